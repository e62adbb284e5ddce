"""A run that was recorded and watched, made up: the recorder's half of its folder."""

from pathlib import Path

from stepscope.schema.loader_rows import LoaderUse
from stepscope.schema.run_folder import Manifest, RankFolder, RankRecording, RunFolder, StepRow
from stepscope.schema.run_time import Phase, RunPart, RunTime

S = 1_000_000_000
BOOT_NS = 1_700_000_000 * S - 5000 * S
"""When the machine's steady clock was zero."""
ZERO_NS = 5000 * S
"""The script's first line on that clock."""
PHASES: tuple[tuple[RunPart, int], ...] = (
    ("startup", 0),
    ("steps", 20),
    ("evaluation", 60),
    ("steps", 70),
    ("exit", 110),
)


def loader(**changed):
    base = {
        "number": 0, "role": "training", "where": "", "dataset": "D", "items": 1000,
        "is_iterable": False, "workers": 0, "start_method": "", "prefetch": None, "batch_size": 32,
        "sampler": "RandomSampler", "pins": False, "persistent": False, "epochs": 1, "batches": 81,
        "wait_ns": 0, "first_wait_ns": 0,
    }  # fmt: skip
    return LoaderUse(**{**base, **changed})


def steps(kind="later", first=20, last=60, number=0):
    """A step a second."""
    return tuple(
        StepRow(number + place, kind, ZERO_NS + at * S, S, 0)
        for place, at in enumerate(range(first, last))
    )


def recording(rank=0, **changed):
    base = {
        "rank": rank, "world_size": 1, "pid": 10, "torch_version": "2.13", "device": "cuda",
        "step_source": "optimizer", "steps_seen": 80, "startup_ns": 20 * S, "clean_steps_ns": (S,),
        "windows": (), "own_cost_ns": 0, "time_ns": BOOT_NS + ZERO_NS + S, "perf_ns": ZERO_NS + S,
        "complete": True, "loaders": (loader(),),
        "run_time": RunTime(
            wall_ns=120 * S, startup_ns=20 * S, steps_ns=80 * S, evaluation_ns=10 * S,
            checkpoint_ns=0, between_ns=0, exit_ns=10 * S, stepscope_ns=0, import_ns=None,
            first_step_ns=None, compile_ns=None, evaluations=1, checkpoints=0, epochs=1,
            phases=tuple(Phase(part, ZERO_NS + at * S) for part, at in PHASES),
        ),
    }  # fmt: skip
    return RankRecording(**{**base, **changed})


def rank(number=0, rows=None, **changed):
    rows = (*steps(), *steps(first=70, last=110, number=40)) if rows is None else rows
    return RankFolder(number, Path(), recording(number, **changed), (), None, rows)


def run(*ranks):
    manifest = Manifest(
        stepscope_version="0", command=("t.py",), directory="/", python="3", host="h", pid=10,
        started="2026-11-30T00:00:00+00:00", started_ns=BOOT_NS + ZERO_NS, wall_ns=120 * S,
        state="finished", exit_status=0,
    )  # fmt: skip
    return RunFolder(Path(), manifest, ranks or (rank(),))

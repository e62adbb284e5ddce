"""Mistakes that are told while the run goes on."""

import json
import os
import subprocess
import sys

import pytest
from msgspec.structs import replace

from stepscope.errors import InputError
from stepscope.schema.sampler import Moment
from stepscope.schema.samples import Sample
from stepscope.watch.closing import until_now
from stepscope.watch.during import MISTAKES
from stepscope.watch.herald import Herald
from stepscope.watch.loop import Loop
from stepscope.watch.mistake import look_for
from stepscope.watch.store import SampleWriter
from tests.watch.rows import device, device_start, host, start
from tests.watch.test_during import GB, IDLE, healthy


def summary_with(seen):
    return replace(seen.summary, findings=look_for(MISTAKES, seen))


def heard(*moments, seen):
    """What is said when it is looked at these moments."""
    said: list[str] = []
    looks = []

    def summarise():
        looks.append(1)
        return summary_with(seen)

    herald = Herald(summarise, said.append)
    for at_s in moments:
        herald.look(at_s)
    return said, len(looks)


def test_nothing_is_looked_at_before_the_fifth_minute():
    assert heard(0.0, 100.0, 299.9, seen=healthy(gpu=IDLE)) == ([], 0)


def test_a_severe_mistake_is_told_once_with_what_to_do():
    said, looks = heard(300.0, 450.0, 675.0, seen=healthy(gpu=IDLE, complete=False))
    assert looks == 3
    (text,) = said
    assert text.startswith("after 300 s: 1 GPU(s) were allocated and never used (WA001).\n")
    assert "stepscope check train.py" in text


def test_a_leak_is_told_while_there_is_time():
    leak = {"rss_growth_bytes_per_s": 50e6, "rss_last_bytes": 20 * GB}
    (text,), _ = heard(300.0, seen=healthy(node=leak, complete=False))
    assert "runs out in 57 minutes, at about" in text


def test_looks_become_rare():
    _, looks = heard(*(float(second) for second in range(0, 86_400, 5)), seen=healthy())
    assert 10 <= looks <= 15


@pytest.mark.parametrize(
    "seen",
    [
        healthy(),
        healthy(gpu={"busy_frac": 0.49}),
        healthy(node={"rss_peak_bytes": GB}, job_id="7"),
        healthy(time_limit_s=60_000.0),
    ],
)
def test_what_is_healthy_or_not_severe_or_known_at_the_end_only_waits(seen):
    assert heard(300.0, 450.0, seen=seen)[0] == []


@pytest.mark.parametrize("error", [OSError("gone"), InputError("holds no samples")])
def test_a_folder_that_has_gone_ends_nothing(error):
    def summarise():
        raise error

    Herald(summarise, pytest.fail).look(300.0)


@pytest.mark.parametrize("tasks", [1, 16, 17, 1000])
def test_of_many_watchers_only_the_own_samples_are_read(tmp_path, tasks):
    for task in (0, 1):
        writer = SampleWriter(tmp_path, start(task=task, tasks=tasks, node=f"n{task}"))
        writer.write(0.0, [host(0.0), host(400.0)])
        if task == 0:
            own = writer.path
    summary = until_now(own, tasks)
    assert [node.node for node in summary.nodes] == (["n0", "n1"] if tasks <= 16 else ["n0"])
    own.unlink()
    if tasks > 16:
        with pytest.raises(InputError):
            until_now(own, tasks)


class Replayed:
    """A sampler of a run whose one device is never used."""

    def open(self) -> tuple[Sample, ...]:
        return (device_start(),)

    def sample(self, moment: Moment) -> tuple[Sample, ...]:
        at = moment.at_s
        return (host(at), device(at, busy_frac=0.0, job_processes=0))

    def close(self) -> None:
        """Nothing was taken."""


def test_the_loop_tells_it_in_the_middle_of_the_run(tmp_path):
    now = [1000.0]
    writer = SampleWriter(tmp_path, start())
    said: list[str] = []
    herald = Herald(lambda: until_now(writer.path, 1), said.append)
    loop = Loop(
        [Replayed()], frozenset, writer, interval_s=0.5, began_s=1000.0, herald=herald,
        clock=lambda: now[0],
    )  # fmt: skip
    loop.open()
    for _ in range(310):
        now[0] += 1.0
        loop.tick()
        if now[0] < 1299:
            assert said == []
    loop.tick(is_last=True)
    loop.close(0)
    (text,) = said
    assert "1 GPU(s) were allocated and never used" in text


HELD = """
import sys, time
from stepscope.watch import herald
from stepscope.watch.during import seen
herald.LEAST_SECONDS = seen.LEAST_SECONDS = 0.5
from stepscope.watch import during
from stepscope.watch.session import WatchOptions, watch_command
from stepscope.watch.mistake import Mistake
from stepscope.schema.report import Finding
from pathlib import Path
import os
import subprocess
from stepscope.watch import closing

found = Finding(code="WA001", regime="host", severity="high", confidence="high", title="planted", evidence=(), action="do", snippet="type")
closing.MISTAKES = (Mistake("WA001", "", "", "", lambda seen: found if seen.is_judged else None),)
sys.exit(watch_command(tuple(sys.argv[2:]), WatchOptions(out=Path(sys.argv[1]), interval_s=0.1), os.environ))
"""
WAITS = """
import sys, time
end = time.monotonic() + 60
while b"planted" not in open(sys.argv[1], "rb").read() and time.monotonic() < end:
    time.sleep(0.05)
print("was told", file=sys.stderr)
"""


def test_a_watched_command_is_told_before_it_ends(tmp_path):

    log = tmp_path / "log"
    with log.open("wb") as file:
        run = subprocess.run(
            [sys.executable, "-c", HELD, str(tmp_path / "run"), sys.executable, "-c", WAITS, str(log)],
            stdout=subprocess.PIPE, stderr=file, timeout=100, check=False, env=dict(os.environ),
        )  # fmt: skip
    text = log.read_text()
    assert run.returncode == 0, text
    assert run.stdout == b""
    before, _, after = text.partition("was told")
    assert before.startswith("stepscope: after ")
    assert "planted (WA001)." in before
    assert "WA001 high: planted." in after
    assert (
        json.loads((tmp_path / "run" / "watch.json").read_text())["findings"][0]["code"] == "WA001"
    )

"""Programs that end suddenly, compile, shard or draw at random: the same with and without the recorder."""

import signal

import pytest

from tests.record.running import finish, plain, profiled, start
from tests.record.test_launching import ENVIRONMENT, TORCHRUN, launched

pytestmark = pytest.mark.slow
COUNTS = ("--warmup", "3", "--clean", "10", "--active", "5")
IN_THE_WINDOW = 16
"""A step inside the window of these counts: start-up, three left out, ten clean ones, then it opens."""


def test_losses_and_random_streams_are_the_same_to_the_last_bit(tmp_path):
    ended = profiled(tmp_path / "run", "random_streams.py", options=COUNTS)
    without = plain("random_streams.py")
    assert len(without.stdout.splitlines()) == 202
    assert ended.stdout == without.stdout
    assert (ended.status, without.status) == (0, 0)
    assert ended.recording.window.kind == "steady"
    (loader,) = ended.recording.loaders
    assert (loader.persistent, loader.epochs, loader.batches) == (True, 2, 200)


@pytest.mark.parametrize(
    ("end", "status"),
    [("os._exit", 7), ("SIGTERM", -signal.SIGTERM), ("SIGKILL", -signal.SIGKILL)],
)
def test_a_program_that_ends_inside_the_window_leaves_a_readable_run(tmp_path, end, status):
    command = ("sudden.py", end, str(IN_THE_WINDOW))
    ended = profiled(tmp_path / "run", *command, options=COUNTS)
    without = plain(*command)
    assert (ended.status, ended.stdout) == (without.status, without.stdout)
    assert ended.status == status
    assert ended.run.manifest.state == "running"
    assert not ended.recording.complete


def test_a_compiled_model_is_recorded_and_its_compilation_told(tmp_path):
    ended = profiled(tmp_path / "run", "compiled.py", options=COUNTS)
    assert (ended.status, ended.stdout) == (0, plain("compiled.py").stdout)
    assert ended.recording.step_source == "optimizer"
    assert ended.recording.steps_seen == 39
    time = ended.recording.run_time
    assert 0 < time.compile_ns < time.wall_ns


def test_a_fully_sharded_model_is_recorded_on_every_rank(tmp_path):
    ended = launched(tmp_path / "run", *TORCHRUN, 2, "fsdp.py")
    assert ended.status == 0, ended.stderr
    assert ended.stdout == finish(start([*TORCHRUN, 2, "fsdp.py"], env=ENVIRONMENT)).stdout
    assert [rank.rank for rank in ended.run.ranks] == [0, 1]
    assert all(rank.trace and rank.recording.steps_seen == 29 for rank in ended.run.ranks)

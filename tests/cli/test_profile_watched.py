"""A profiled run is watched from beside: its report tells use, energy and cost."""

import json
import signal
import sys

import msgspec
import pytest

from stepscope.cli.main import main, parser
from stepscope.cli.rates import options_of, words_of
from stepscope.cost.options import CostOptions
from stepscope.schema.cost import CostReport
from stepscope.schema.report import Report
from stepscope.testing import scenarios
from stepscope.watch.axis import OWN_CLOCK
from stepscope.watch.store import read_watched
from tests.known import known
from tests.record.running import finish, profiled, start

needs_linux = pytest.mark.skipif(
    not hasattr(signal, "sigtimedwait"), reason="watching beside needs Linux's signals"
)


@needs_linux
@pytest.mark.slow
def test_the_report_tells_what_the_run_used_and_cost_and_the_cost_command_the_same(tmp_path):
    folder = tmp_path / "run"
    rates = ["--runs", "10000", "--price", "2.5", "--site", "none"]
    words = ["-m", "stepscope", "profile", "--out", folder, *rates, "longer.py"]
    ended = finish(start(words, cwd=tmp_path_with_program(tmp_path)))
    assert ended.status == 0, ended.stderr
    report = msgspec.json.decode((folder / "report.json").read_bytes(), type=Report)
    use, cost = known(report.use), known(report.cost)
    assert use.alignment == OWN_CLOCK
    assert {"startup", "steps"} <= {phase.part for phase in use.phases}
    (cpu,) = [track for track in use.tracks if track.kind == "cpu"]
    assert known(cpu.mean) > 0
    # What the recorder called the run's wall time ends where the last phase does.
    assert use.phases[-1].end_s == pytest.approx(known(known(report.recording).run).wall_ms / 1e3)
    assert use.steps[-1].end_s <= use.phases[-1].end_s
    assert "CPU" in ended.stderr
    assert "core(s) for" in " ".join(ended.stderr.split())
    place = tmp_path / "cost.json"
    assert main(["cost", str(folder), *rates, "--json", str(place)]) == 0
    told = msgspec.json.decode(place.read_bytes(), type=CostReport)
    assert told == cost.plan


WAITS = """
import pathlib
import time

def is_watched(folder):
    "Whether some samples are there, or the watcher has not come for too long."
    texts = [path.read_text() for path in pathlib.Path(folder).glob("watch/*.jsonl")]
    return sum(text.count('"row":"host"') for text in texts) >= 4 or time.perf_counter() > END

END = time.perf_counter() + 120
"""

PROGRAM = (
    WAITS
    + """
import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = DataLoader(TensorDataset(torch.randn(160, 8), torch.randn(160, 2)), batch_size=2)
is_first = True
while is_first or not is_watched("run"):
    is_first = False
    for x, y in data:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        time.sleep(0.002)
"""
)


def tmp_path_with_program(folder):
    """A folder with a program that trains until it has been watched for some samples."""
    (folder / "longer.py").write_text(PROGRAM)
    return folder


@needs_linux
@pytest.mark.slow
def test_below_a_launcher_the_launcher_and_all_below_it_are_watched(tmp_path):
    folder = tmp_path / "run"
    own = ["-m", "stepscope", "profile", "--no-analyze", "--out", folder, "--"]
    ended = finish(start([*own, sys.executable, "accumulate.py"]), folder)
    assert ended.status == 0, ended.stderr
    (watched,) = read_watched(folder)
    assert watched.end is not None
    assert watched.start.command[-1] == "accumulate.py"
    # The command had ended when the last sample was taken, and the kernel still held its account.
    assert watched.hosts[-1].cpu_s > 0
    assert watched.start.pid != ended.run.manifest.pid


BY_HAND = (
    WAITS
    + """
import sys
import torch
import stepscope

weight = torch.randn(8, 8)
with stepscope.profile(out=sys.argv[1], warmup=3, clean=10, active=5, watch=sys.argv[2] == "watched") as run:
    number = 0
    while number < 40 or (sys.argv[2] == "watched" and not is_watched(sys.argv[1])):
        number += 1
        weight = torch.tanh(weight @ weight)
        run.step()
        time.sleep(0.002)
"""
)


@needs_linux
@pytest.mark.slow
def test_what_is_recorded_by_hand_is_watched_unless_that_is_not_wanted(tmp_path):
    (tmp_path / "by_hand.py").write_text(BY_HAND)
    for word in ("watched", "alone"):
        ended = finish(start(["by_hand.py", tmp_path / word, word], cwd=tmp_path), tmp_path / word)
        assert ended.status == 0, ended.stderr
        report = msgspec.json.decode((tmp_path / word / "report.json").read_bytes(), type=Report)
        assert (report.use is not None) == (word == "watched")
    (watched,) = read_watched(tmp_path / "watched")
    assert watched.end is not None
    assert "by_hand.py" in watched.start.command[0]


@pytest.mark.slow
def test_nobody_watches_where_that_is_not_wanted(tmp_path):
    ended = profiled(tmp_path / "run", "accumulate.py")
    assert ended.status == 0, ended.stderr
    assert not (tmp_path / "run" / "watch").exists()


def test_rates_that_cannot_be_end_it_before_the_script_runs(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("open('ran', 'w')")
    assert main(["profile", "--site", "atlantis", "x.py"]) == 2
    assert "there is no site 'atlantis'" in capsys.readouterr().err
    monkeypatch.setenv("STEPSCOPE_PRICE", "dear")
    assert main(["profile", "x.py"]) == 2
    assert "STEPSCOPE_PRICE must be a number" in capsys.readouterr().err
    assert not (tmp_path / "ran").exists()


def test_words_say_what_was_stated_wherever_they_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = [
        "--runs", "5", "--hours", "2.5", "--price", "0.5", "--currency", "EUR", "--grid", "NL",
        "--host-overhead", "0.2", "--site", "mine.toml", "--rates", "a.toml", "--rates", "b.toml",
        "--device", "-odd",
    ]  # fmt: skip
    line[-2:] = ["--device=-odd"]
    options = options_of(parser().parse_args(["analyze", *line, "run"]))
    words = words_of(options)
    again = options_of(parser().parse_args(["analyze", *words, "run"]))
    assert f"--site={tmp_path / 'mine.toml'}" in words
    assert again.rates == (tmp_path / "a.toml", tmp_path / "b.toml")
    assert (again.runs, again.hours, again.device, again.host) == (5, 2.5, "-odd", 0.2)
    assert words_of(CostOptions()) == ()


def test_analyze_prices_a_trace(tmp_path, capsys):
    path = scenarios.write("input-bound", tmp_path / "trace.json")
    place = tmp_path / "report.json"
    line = ["analyze", str(path), "--price", "2", "--site", "none", "--json", str(place)]
    assert main(line) == 0
    cost = json.loads(place.read_text())["cost"]
    assert cost["run"]["money"]["value"] == 2.0
    assert "Cost" in capsys.readouterr().out

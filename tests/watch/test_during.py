"""Mistakes during a run: each is found, silent in a healthy and in a short job, and below its threshold."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from stepscope.schema.notice import Notice
from stepscope.watch.during import MISTAKES, During
from stepscope.watch.mistake import look_for
from stepscope.watch.summary import summarise
from tests.watch.rows import watched

GB = 1 << 30


def healthy(*, node=None, gpu=None, gpus=1, steps=1000, wait=0.02, **changed):
    """A job of ten minutes in which nothing is wrong, with fields of node, devices and summary replaced."""
    uuids = tuple(f"GPU-{number}" for number in range(gpus))
    summary = summarise([watched(uuids=uuids)])
    nodes = tuple(replace(one, **(node or {})) for one in summary.nodes)
    devices = tuple(replace(one, **(gpu or {})) for one in summary.devices)
    return During(
        summary=replace(summary, **{"nodes": nodes, "devices": devices, **changed}),
        steps=steps,
        wait_frac=wait,
    )


def spoilt(seen, **changed):
    """The same with the first device changed."""
    first, *others = seen.summary.devices
    devices = (replace(first, **changed), *others)
    return replace(seen, summary=replace(seen.summary, devices=devices))


IDLE = {
    "busy_frac": 0.0,
    "used": False,
    "working_frac": 0.0,
    "tensor_frac": 0.0,
    "watts_mean": 70.0,
}
FULL_CORES = {
    "cpu_s": 600 * 15.0,
    "threads_peak": 33,
    "cpu_pressure_frac": 0.26,
    "involuntary_switches": 600 * 16 * 101,
}
SMALL_READS = {
    "network_reads": ("lustre",),
    "mean_read_bytes": 131_071.0,
    "read_bytes": 100_000_001,
}

FIRES = [
    ("WA001", healthy(gpu=IDLE, gpus=2)),
    ("WA001", healthy(gpu={**IDLE, "used": None})),
    ("WA002", spoilt(healthy(gpus=4), **IDLE)),
    ("WA003", healthy(gpu={"busy_frac": 0.49})),
    ("WA004", healthy(gpu={"busy_frac": 0.81, "working_frac": 0.49})),
    ("WA005", healthy(gpu={"busy_frac": 0.91, "working_frac": None, "tensor_frac": None, "watts_mean": 279.0})),
    ("WA006", healthy(gpu={"throttled_frac": 0.06, "throttle_reasons": ("power brake",)})),
    ("WA007", healthy(gpu={"working_frac": 0.51, "tensor_frac": 0.009})),
    ("WA008", healthy(gpu={"busy_frac": 0.14, "memory_peak_bytes": 19 * GB})),
    ("WA009", healthy(gpu={"longest_idle_s": 1800.0}, interactive=True)),
    ("WA020", healthy(wait=0.11)),
    ("WA021", healthy(node=FULL_CORES)),
    ("WA022", healthy(node=SMALL_READS)),
    ("WA023", healthy(node={"oom_kills": 1})),
    ("WA023", healthy(node={"memory_pressure_frac": 0.011})),
    ("WA023", healthy(node={"pss_peak_bytes": 172 * GB})),
    ("WA023", healthy(node={"swap_peak_bytes": 100_000_001})),
    ("WA023", healthy(node={"held_back": 1})),
    ("WA024", healthy(node={"rss_peak_bytes": 35 * GB}, job_id="7")),
    ("WA025", healthy(node={"shm_bytes": 100, "shm_peak_bytes": 91})),
    ("WA026", healthy(node={"rss_growth_bytes_per_s": 20e6, "rss_last_bytes": 20 * GB})),
    ("WA027", healthy(gpu={"memory_growth_bytes_per_s": 1e6})),
    ("WA028", healthy(time_limit_s=6000.0)),
    ("WA029", healthy(node={"cpu_s": 600.0}, devices=())),
]  # fmt: skip

BELOW = [
    ("WA001", healthy(gpu={**IDLE, "used": True})),
    ("WA001", healthy(gpu={**IDLE, "busy_frac": None})),
    ("WA001", healthy(gpu={**IDLE, "lost": True})),
    ("WA001", healthy(devices=())),
    ("WA002", healthy(gpu=IDLE, gpus=2)),
    ("WA003", healthy(gpu={"busy_frac": 0.5})),
    ("WA003", healthy(gpu={"busy_frac": None})),
    ("WA003", healthy(gpu=IDLE)),
    ("WA004", healthy(gpu={"busy_frac": 0.81, "working_frac": 0.5})),
    ("WA004", healthy(gpu={"busy_frac": 0.8, "working_frac": 0.1})),
    ("WA004", healthy(gpu={"busy_frac": 0.9, "working_frac": None})),
    ("WA005", healthy(gpu={"busy_frac": 0.91, "working_frac": None, "watts_mean": 280.0})),
    ("WA005", healthy(gpu={"busy_frac": 0.91, "working_frac": None, "watts_mean": None})),
    ("WA005", healthy(gpu={"busy_frac": 0.91, "working_frac": None, "watts_mean": 100.0, "watts_limit": None})),
    ("WA005", healthy(gpu={"busy_frac": 0.91, "working_frac": 0.6, "watts_mean": 100.0})),
    ("WA006", healthy(gpu={"throttled_frac": 0.05})),
    ("WA006", healthy(gpu={"throttled_frac": None})),
    ("WA007", healthy(gpu={"working_frac": 0.51, "tensor_frac": 0.01})),
    ("WA007", healthy(gpu={"working_frac": 0.5, "tensor_frac": 0.0})),
    ("WA007", healthy(gpu={"working_frac": 0.9, "tensor_frac": None})),
    ("WA008", healthy(gpu={"busy_frac": 0.14, "memory_peak_bytes": 20 * GB})),
    ("WA008", healthy(gpu={"busy_frac": 0.15, "memory_peak_bytes": 1 * GB})),
    ("WA008", healthy(gpu={"busy_frac": 0.14, "memory_peak_bytes": None})),
    ("WA009", healthy(gpu={"longest_idle_s": 1799.0}, interactive=True)),
    ("WA009", healthy(gpu={"longest_idle_s": 9999.0})),
    ("WA009", healthy(gpu={"longest_idle_s": None}, interactive=True)),
    ("WA020", healthy(wait=0.10)),
    ("WA020", healthy(wait=None)),
    ("WA020", healthy(wait=0.5, node={"cpu_s": 600 * 15.5})),
    ("WA021", healthy(node={**FULL_CORES, "cpu_pressure_frac": 0.25})),
    ("WA021", healthy(node={**FULL_CORES, "cpu_pressure_frac": None})),
    ("WA021", healthy(node={**FULL_CORES, "threads_peak": 32})),
    ("WA021", healthy(node={**FULL_CORES, "cpu_s": 600 * 12.0})),
    ("WA021", healthy(node={**FULL_CORES, "involuntary_switches": 600 * 16 * 99})),
    ("WA022", healthy(node={**SMALL_READS, "network_reads": ()})),
    ("WA022", healthy(node={**SMALL_READS, "mean_read_bytes": 131_072.0})),
    ("WA022", healthy(node={**SMALL_READS, "read_bytes": 100_000_000})),
    ("WA022", healthy(node={**SMALL_READS, "mean_read_bytes": None})),
    ("WA023", healthy(node={"memory_pressure_frac": 0.01, "pss_peak_bytes": 170 * GB})),
    ("WA023", healthy(node={"swap_peak_bytes": 100_000_000, "held_back": 0})),
    ("WA023", healthy(node={"memory_pressure_frac": None, "oom_kills": None, "pss_peak_bytes": None})),
    ("WA024", healthy(node={"rss_peak_bytes": 36 * GB}, job_id="7")),
    ("WA024", healthy(node={"rss_peak_bytes": 1 * GB})),
    ("WA024", healthy(node={"rss_peak_bytes": 1 * GB, "memory_limit_bytes": None}, job_id="7")),
    ("WA025", healthy(node={"shm_bytes": 100, "shm_peak_bytes": 90})),
    ("WA025", healthy(node={"shm_bytes": None, "shm_peak_bytes": None})),
    ("WA026", healthy(node={"rss_growth_bytes_per_s": None})),
    ("WA027", healthy(gpu={"memory_growth_bytes_per_s": None})),
    ("WA028", healthy(time_limit_s=5999.0)),
    ("WA028", healthy(time_limit_s=None)),
    ("WA028", healthy(time_limit_s=9999.0, exit_status=1)),
    ("WA028", healthy(time_limit_s=9999.0, complete=False)),
    ("WA028", healthy(time_limit_s=9999.0, interactive=True)),
    ("WA029", healthy(node={"cpu_s": 600 * 1.3}, devices=())),
    ("WA029", healthy(node={"cpu_s": 600.0})),
    ("WA029", healthy(node={"cpu_s": 600.0, "cores": 2.0}, devices=())),
]  # fmt: skip

ALWAYS_JUDGED = {"WA009", "WA023", "WA025"}
"""What needs no five minutes: it states its own time, or is a fact that does not go away."""


def codes(seen):
    return [finding.code for finding in look_for(MISTAKES, seen)]


@pytest.mark.parametrize(("code", "seen"), FIRES)
def test_a_mistake_is_found(code, seen):
    findings = {finding.code: finding for finding in look_for(MISTAKES, seen)}
    assert code in findings
    assert findings[code].evidence
    assert findings[code].action
    assert findings[code].snippet or code == "WA006"


@pytest.mark.parametrize(("code", "seen"), BELOW)
def test_it_is_silent_below_its_threshold_and_without_its_data(code, seen):
    assert code not in codes(seen)


@pytest.mark.parametrize(("code", "seen"), [pair for pair in FIRES if pair[0] not in ALWAYS_JUDGED])
def test_a_short_job_is_not_judged(code, seen):
    assert code not in codes(replace(seen, summary=replace(seen.summary, wall_s=299.0)))
    assert code not in codes(replace(seen, steps=19))


@pytest.mark.parametrize(
    "changed", [{}, {"gpus": 8}, {"steps": None, "wait": None}, {"devices": ()}, {"job_id": "7"}]
)
def test_a_healthy_job_has_no_finding(changed):
    assert codes(healthy(**changed)) == []


def test_every_mistake_has_its_tests():
    known = {mistake.code for mistake in MISTAKES}
    assert {code for code, _ in FIRES} == known
    assert {code for code, _ in BELOW} == known
    assert len(known) == len(MISTAKES), "a code is used twice"


def test_hardly_busy_is_red_below_fifteen_per_cent():
    (finding,) = look_for(MISTAKES, healthy(gpu={"busy_frac": 0.149}))
    assert finding.severity == "high"


def test_a_leak_names_the_time_at_which_memory_runs_out():
    leak = {"rss_growth_bytes_per_s": 20e6, "rss_last_bytes": 20 * GB}
    seen = healthy(node=leak, steps=600, complete=False)
    (finding,) = look_for(MISTAKES, seen)
    seconds = (180 - 20) * GB / 20e6
    began = datetime.fromisoformat(seen.summary.started)
    moment = (began + timedelta(seconds=600 + seconds)).astimezone()
    assert finding.title.endswith(
        f"runs out in {seconds / 3600:.1f} hours, at about {moment:%H:%M}"
    )
    assert finding.severity == "high"
    by_name = {row.name: row.value for row in finding.evidence}
    assert by_name["growth a step"] == pytest.approx(20e6)
    (finding,) = look_for(MISTAKES, healthy(node=leak, steps=600))
    assert finding.title.endswith(f"would have run out {seconds / 3600:.1f} hours later")


@pytest.mark.parametrize(
    ("growth", "says", "severity"),
    [
        (20e3, "runs out in 99 days", "medium"),
        (1e6, "runs out in 47.7 hours, at about", "medium"),
        (50e6, "runs out in 57 minutes, at about", "high"),
    ],
)
def test_a_leak_is_as_severe_as_its_end_is_near(growth, says, severity):
    node = {"rss_growth_bytes_per_s": growth, "rss_last_bytes": 20 * GB}
    (finding,) = look_for(MISTAKES, healthy(node=node, complete=False))
    assert says in finding.title
    assert finding.severity == severity


def test_a_leak_can_take_no_more_than_the_node_has_left():
    leak = {"rss_growth_bytes_per_s": 20e6, "rss_last_bytes": 20 * GB, "available_last_bytes": GB}
    (finding,) = look_for(MISTAKES, healthy(node=leak, complete=False))
    assert "runs out in 1 minutes" in finding.title
    (finding,) = look_for(MISTAKES, healthy(node={**leak, "rss_last_bytes": 181 * GB}))
    assert "would have run out 0 minutes later" in finding.title


def test_a_leak_of_a_device_is_counted_from_its_end():
    seen = healthy(
        gpu={"memory_growth_bytes_per_s": 20e6, "memory_last_bytes": 79 * GB}, complete=False
    )
    (finding,) = look_for(MISTAKES, seen)
    assert "runs out in 1 minutes" in finding.title


def test_a_killed_process_is_told_at_once():
    seen = healthy(node={"oom_kills": 2}, wall_s=5.0)
    (finding,) = look_for(MISTAKES, seen)
    assert finding.title.startswith("2 process(es) were killed")


@pytest.mark.parametrize(
    "node",
    [
        {"memory_pressure_frac": 0.011},
        {"pss_peak_bytes": 172 * GB},
        {"swap_peak_bytes": GB},
        {"held_back": 5},
    ],
)
def test_memory_that_is_only_short_is_not_judged_in_a_short_job(node):
    assert "WA023" in codes(healthy(node=node))
    assert codes(healthy(node=node, wall_s=299.0)) == []


def test_steps_in_the_folder_are_used(tmp_path):
    summary = healthy().summary
    assert During.of(summary, tmp_path).steps is None
    rows = "".join(f"{n},clean,{n}000000000,1000000000,250000000,1\n" for n in range(30))
    for rank in range(2):
        folder = tmp_path / f"rank{rank}"
        folder.mkdir()
        (folder / "steps.csv").write_text(
            f"number,kind,start_ns,duration_ns,loader_wait_ns,count\n{rows}"
        )
    seen = During.of(summary, tmp_path)
    assert (seen.steps, seen.wait_frac) == (30, 0.25)


def test_the_documentation_lists_every_mistake():
    page = Path(__file__).parents[2] / "docs" / "how-to" / "watch-a-run.md"
    text = page.read_text(encoding="utf-8")
    for mistake in MISTAKES:
        assert f"| {mistake.code} | {mistake.title} | {mistake.test} | {mistake.source} |" in text


def test_notices_are_no_findings():
    notice = Notice(code="no-rapl", count=1, text="none")
    assert codes(healthy(notices=(notice,))) == []

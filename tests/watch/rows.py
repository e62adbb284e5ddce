"""Rows of a watched run, made up."""

from stepscope.schema.sampler import Moment
from stepscope.schema.samples import DeviceSample, DeviceStart, End, HostSample, Start
from stepscope.watch.store import Watched


def start(**changed):
    base = {
        "stepscope_version": "0", "time_ns": 1_700_000_000_000_000_000, "command": ("python", "t.py"),
        "pid": 10, "host": "h", "node": "n0", "cores": 16.0, "machine_cores": 64,
        "machine_memory_bytes": 512 << 30, "memory_limit_bytes": 180 << 30, "shm_bytes": 256 << 30,
        "interval_s": 0.5,
    }  # fmt: skip
    return Start(**{**base, **changed})


def host(at_s, **changed):
    base = {
        "at_s": at_s, "processes": 9, "threads": 40, "cpu_s": 4 * at_s, "node_cpu_s": 100 + 8 * at_s,
        "rss_bytes": 60 << 30, "pss_bytes": 55 << 30, "read_bytes": int(1e6 * at_s),
        "written_bytes": 0, "read_calls": int(at_s), "storage_read_bytes": 0,
        "storage_written_bytes": 0, "voluntary_switches": int(10 * at_s),
        "involuntary_switches": int(at_s), "cgroup_bytes": 30 << 30, "oom_kills": 0,
        "throttled_us": 0, "shm_bytes": 1 << 30, "cpu_pressure_us": int(1e4 * at_s),
        "io_pressure_us": 0, "memory_pressure_us": 0,
    }  # fmt: skip
    return HostSample(**{**base, **changed})


def device_start(uuid="GPU-1", **changed):
    base = {"name": "NVIDIA H100", "memory_bytes": 80 << 30, "watts_limit": 700.0}
    return DeviceStart(uuid=uuid, **{**base, **changed})


def device(at_s, uuid="GPU-1", **changed):
    base = {
        "busy_frac": 0.9, "working_frac": 0.7, "tensor_frac": 0.4, "memory_bytes": 60 << 30,
        "watts": 500.0, "energy_mj": int(500_000 * at_s), "clock_mhz": 1980, "events": 0,
        "job_processes": 1,
    }  # fmt: skip
    return DeviceSample(at_s=at_s, uuid=uuid, **{**base, **changed})


def watched(
    seconds=600.0,
    step=2.0,
    *,
    uuids=("GPU-1",),
    end=True,
    make_host=host,
    make_device=device,
    **changed,
):
    """A watcher's rows over so many seconds, one round every ``step``."""
    times = [place * step for place in range(int(seconds / step) + 1)]
    last = End(at_s=seconds, exit_status=0, own_cpu_s=1.0, own_rss_bytes=30_000_000)
    return Watched(
        start=start(**changed),
        end=last if end is True else end or None,
        hosts=tuple(make_host(at) for at in times),
        device_starts=tuple(device_start(uuid) for uuid in uuids),
        devices={uuid: tuple(make_device(at, uuid) for at in times) for uuid in uuids},
        meters=(),
        notices=(),
    )


def opened(sampler):
    """What a sampler answers when it is opened."""
    return sampler.open()


def sampled(sampler, at_s=0.0, pids=frozenset()):
    """What a sampler answers at a moment."""
    return sampler.sample(Moment(at_s, pids))

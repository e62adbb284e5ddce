"""Generated jobs with known truth: hosts with clocks of their own, one rank slow, tensor and data groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stepscope.testing import A100, Group, Setup, TraceBuilder
from stepscope.testing.host import START_NS

MS = 1_000_000
JOIN_NS = 50_000
TRANSFER_NS = 2 * MS
GRADIENTS = 25_000_000
MATMUL = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn"


@dataclass(frozen=True)
class Made:
    """What happens in a job.

    Attributes:
        world: Ranks.
        per_host: Ranks of a host.
        slow: Ranks that are slow.
        kind: By what: ``input``, ``host``, ``compute`` or ``nothing``.
        slow_ms: By how much, in each step.
        steps: Steps.
        offset_ms: Hosts' clocks differ by up to this.
        pairs: Whether neighbours also reduce between two, as tensor parallelism does.
    """

    world: int
    per_host: int = 8
    slow: tuple[int, ...] = ()
    kind: str = "nothing"
    slow_ms: tuple[float, ...] = (10.0,)
    steps: int = 6
    offset_ms: float = 50.0
    pairs: bool = False


def build(job):
    """One builder a rank, each on the clock of its host, in order of rank."""
    chance = np.random.default_rng(7)
    hosts = -(-job.world // job.per_host)
    offsets = (chance.uniform(-1, 1, hosts) * job.offset_ms * MS).astype(np.int64)
    ranks = []
    for rank in range(job.world):
        offset = int(offsets[rank // job.per_host])
        setup = Setup(
            rank=rank,
            world_size=job.world,
            gpus=(A100,) * job.per_host,
            device=rank % job.per_host,
            pid=4000 + rank,
            host_name=f"node{rank // job.per_host:02d}",
            start_ns=START_NS + offset,
        )
        ranks.append((TraceBuilder(setup), offset))
    everyone = Group(name="0", ranks=tuple(range(job.world)))
    for number in range(job.steps):
        steps = [trace.step(number) for trace, _ in ranks]
        for step in steps:
            step.__enter__()
        noise = chance.uniform(0, 0.2 * MS, job.world).astype(np.int64)
        free = [
            compute(trace, rank, number, job, int(noise[rank])) - offset
            for rank, (trace, offset) in enumerate(ranks)
        ]
        if job.pairs:
            for first in range(0, job.world, 2):
                pair = Group(name=f"tp{first}", ranks=(first, first + 1))
                reduce(ranks[first : first + 2], pair, free[first : first + 2], 100_000)
                both = max(free[first : first + 2])
                for place in (first, first + 1):
                    free[place] = ranks[place][0].launch(MATMUL, 5 * MS) - ranks[place][1]
                    assert free[place] >= both
        reduce(ranks, everyone, free, TRANSFER_NS)
        for trace, _ in ranks:
            trace.wait_for_communication()
            with trace.optimizer():
                trace.launch(MATMUL, 1 * MS)
            trace.item()
        for step in steps:
            step.__exit__(None, None, None)
    return [trace for trace, _ in ranks]


def compute(trace, rank, number, job, noise_ns):
    """Input, forward and backward; when the device is done with them, on the rank's own clock."""
    slow = rank in job.slow
    extra = int(job.slow_ms[number % len(job.slow_ms)] * MS) if slow else 0
    trace.loader_wait(100_000 + (extra if job.kind == "input" else 0))
    trace.pause(extra if job.kind == "host" else 0)
    with trace.op("aten::linear"):
        trace.launch(MATMUL, 10 * MS + noise_ns)
    with trace.backward(), trace.op("autograd::engine::evaluate_function: AddmmBackward0"):
        return trace.launch(MATMUL, 10 * MS + (extra if job.kind == "compute" else 0))


def reduce(ranks, group, free, transfer_ns):
    """All-reduce that ends on every rank once the last has joined and the data has moved."""
    end = max(free) + JOIN_NS + transfer_ns
    for trace, offset in ranks:
        with trace.backward():
            trace.collective("allreduce", GRADIENTS, 1_000, group=group, until_ns=end + offset)
        trace.wait_for_communication()


def write(job, folder):
    """The job's traces as files of a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank, trace in enumerate(build(job)):
        trace.write(folder / f"rank{rank}.pt.trace.json")
    return folder

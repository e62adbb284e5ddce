"""How batches are made: from the recorder where it measured it, else from what the trace shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from stepscope.predict.graph import TO_DEVICE
from stepscope.trace import call_names
from stepscope.trace import intervals as iv
from stepscope.trace.loader_names import SINGLE_PROCESS
from stepscope.trace.scope import scope_of

if TYPE_CHECKING:
    from stepscope.predict.graph import Graph
    from stepscope.trace.model import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a recorder knows and a foreign trace does not; ``None`` where it is not known.

    Attributes:
        work_ns: Time that making each batch took one process, in order.
        cpu_frac: Share of that time in which it computed rather than waited for storage.
        cores: Cores that workers and training share.
        clean_step_ns: Median step without a profiler.
    """

    work_ns: tuple[int, ...] | None = None
    cpu_frac: float | None = None
    cores: int | None = None
    clean_step_ns: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """How batches are made.

    Attributes:
        work_ns: Time that making each batch takes one process, in order.
        per_step: Batches that a step takes.
        cpu_frac: Share of that time in which it computes rather than waits for storage; ``None`` when unknown.
        cores: Cores that workers and training share; ``None`` when unknown.
        batch_bytes: Size of a batch; 0 when unknown.
    """

    work_ns: tuple[int, ...]
    per_step: float = 1.0
    cpu_frac: float | None = None
    cores: int | None = None
    batch_bytes: int = 0

    @property
    def mean_ns(self) -> float:
        """Mean time of making what one step takes."""
        return float(np.mean(self.work_ns)) * self.per_step


def source_of(trace: Trace, graph: Graph, setting: Setting) -> Source | None:
    """How the batches of the steady steps are made; ``None`` when nothing tells it.

    Without workers the wait for a batch is the work that it takes. With workers the trace shows only
    what they failed to hide.
    """
    scope = scope_of(trace)
    steady = scope.bounds[scope.is_steady]
    names = call_names.loader_waits(trace.host)
    waits = iv.intersect(iv.of(trace.host.filter(names)), iv.union(steady))
    if not scope.are_steps or not len(waits) or not len(steady):
        return None
    work = setting.work_ns
    if work is None:
        told = trace.host.filter(names).get_column("name").cast(pl.String)
        if not told.str.contains(SINGLE_PROCESS, literal=True).all():
            return None
        work = tuple((waits[:, 1] - waits[:, 0]).tolist())
    per_step = len(waits) / len(steady)
    return Source(
        work_ns=work,
        per_step=per_step,
        cpu_frac=setting.cpu_frac,
        cores=setting.cores,
        batch_bytes=int(_bytes_to_device(trace, graph) / per_step),
    )


def _bytes_to_device(trace: Trace, graph: Graph) -> float:
    """Bytes copied to the device per steady step."""
    sizes = trace.device.get_column("bytes").fill_null(0).to_numpy()
    steady = np.flatnonzero(graph.is_steady)
    inside = (graph.sort == TO_DEVICE) & np.isin(graph.step_of_work, steady)
    return float(sizes[graph.table_row[inside]].sum()) / max(len(steady), 1)

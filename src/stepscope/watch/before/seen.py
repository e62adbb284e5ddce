"""What the rules before a run look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.check_report import CheckReport
    from stepscope.schema.site import Partition, Site


class Before(Struct, frozen=True, kw_only=True):
    """A machine before a run.

    Attributes:
        report: What was seen; its findings are still empty.
        environ: The environment.
        site: The site, ``None`` when not known.
        jobs_here: The user's Slurm jobs on this node, when this process is in none of them.
    """

    report: CheckReport
    environ: Mapping[str, str]
    site: Site | None
    jobs_here: tuple[str, ...] = ()

    @property
    def gpus_there(self) -> int:
        """Devices that this process should see: of the job on this node, else what the driver lists."""
        slurm = self.report.allocation.slurm
        if slurm is not None:
            return slurm.gpus_on_node or 0
        return len(self.report.driver)

    @property
    def partition(self) -> Partition | None:
        """The site's partition that the job is in."""
        slurm = self.report.allocation.slurm
        if slurm is None or self.site is None:
            return None
        return self.site.partition(slurm.partition)

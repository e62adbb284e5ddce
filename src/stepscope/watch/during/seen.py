"""What the rules about a watched run look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from stepscope.watch.steps import steps_of

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.watch_summary import DeviceUse, WatchSummary

LEAST_SECONDS = 300.0
"""No run is judged before it is five minutes old (jobstats)."""
LEAST_STEPS = 20
"""Nor before its twentieth step, where steps are known."""


class During(Struct, frozen=True, kw_only=True):
    """A watched run.

    Attributes:
        summary: What was seen; its findings are still empty.
        steps: Steps that the recorder timed beside the watch; ``None`` when it did not.
        wait_frac: Share of their time in which they waited for the DataLoader.
    """

    summary: WatchSummary
    steps: int | None = None
    wait_frac: float | None = None

    @staticmethod
    def of(summary: WatchSummary, folder: Path) -> During:
        """A run with the step times that lie in its folder."""
        use = summary.steps or steps_of(folder)
        if use is None:
            return During(summary=summary)
        return During(summary=summary, steps=use.steps, wait_frac=use.wait_frac)

    @property
    def is_judged(self) -> bool:
        """Whether the run is long enough to say anything."""
        long = self.summary.wall_s >= LEAST_SECONDS
        return long and (self.steps is None or self.steps >= LEAST_STEPS)

    @property
    def devices(self) -> tuple[DeviceUse, ...]:
        """Devices that were seen, without lost ones."""
        return tuple(device for device in self.summary.devices if not device.lost)

    def mean_busy(self) -> float | None:
        """Mean busy share of all devices; ``None`` when one's is not known."""
        known = [device.busy_frac for device in self.devices if device.busy_frac is not None]
        return sum(known) / len(known) if known and len(known) == len(self.devices) else None

    def is_idle(self, device: DeviceUse) -> bool:
        """Whether a device was allocated and not used: no kernel was seen on it and no process of the job."""
        return device.busy_frac == 0 and not device.used

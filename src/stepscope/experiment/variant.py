"""The changes that are worth trying on a recorded run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stepscope.errors import OptionError
from stepscope.record.hooks.changes import Changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.predict import Gains
    from stepscope.schema.report import Gain

WAIT_FRAC = 0.03
"""With less waiting for data than this, nothing is tried on the loader."""

MOST_WORKERS = 4
"""So many numbers of workers are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One change.

    Attributes:
        name: In words.
        changes: What PyTorch is told.
        arguments: The script's arguments in place of its own; ``None`` to keep them.
        lines: What to write into the script.
        gain: What is predicted; ``None`` for nothing.
        note: What a reader must know; ``""`` for nothing.
    """

    name: str
    changes: Changes
    arguments: tuple[str, ...] | None = None
    lines: str = ""
    gain: Gain | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What the first trial showed.

    Attributes:
        gains: Predictions.
        wait_frac: Share of the step in which training waits for data.
        has_loader: Whether there is a DataLoader at all.
        workers: Its workers; ``None`` when unknown.
        restarts: Whether several epochs were begun with workers that end with each, or with none.
        cores: Cores that the process may use.
        threads: Whether operators run on the CPU, so that their threads matter.
        has_gpu: Whether work runs on a GPU.
        has_convolutions: Whether the model convolves.
        optimizer: Whether the optimizer launches operators of its own.
    """

    gains: Gains
    wait_frac: float
    has_loader: bool
    workers: int | None
    restarts: bool
    cores: int
    threads: bool
    has_gpu: bool
    has_convolutions: bool
    optimizer: bool


def variants_for(seen: Situation) -> tuple[Variant, ...]:
    """The changes worth trying, those for the loader first."""
    return (*_loader(seen), *_compute(seen))


def _loader(seen: Situation) -> list[Variant]:
    out = []
    if seen.has_loader and seen.wait_frac >= WAIT_FRAC:
        predicted = {row.workers: row.gain for row in seen.gains.workers}
        needed = seen.gains.workers_needed or seen.cores
        numbers = {1, 2, needed, 2 * needed, seen.cores} - {seen.workers}
        chosen = sorted(n for n in numbers if n <= max(2 * needed, seen.cores))[:MOST_WORKERS]
        out += [
            Variant(
                name=f"{number} loader worker{'s' if number > 1 else ''}",
                changes=Changes(workers=number),
                lines=f"loader = DataLoader(..., num_workers={number})",
                gain=predicted.get(number, seen.gains.input if number >= needed else None),
            )
            for number in chosen
        ]
        out += _kept(seen, seen.workers or needed)
        if seen.workers:
            out.append(
                Variant(
                    name="prefetch 8 batches a worker",
                    changes=Changes(prefetch=8),
                    lines="loader = DataLoader(..., prefetch_factor=8)",
                )
            )
    if seen.has_loader and seen.has_gpu:
        out.append(
            Variant(
                name="pinned memory",
                changes=Changes(pin=True),
                lines="loader = DataLoader(..., pin_memory=True)  # and .to(device, non_blocking=True)",
                gain=seen.gains.copy,
            )
        )
    return out


def _kept(seen: Situation, workers: int) -> list[Variant]:
    """Workers that live on, where several epochs were begun."""
    if not seen.restarts:
        return []
    return [
        Variant(
            name=f"{workers} loader worker{'s' if workers > 1 else ''} kept between epochs",
            changes=Changes(workers=workers, persistent=True),
            lines=f"loader = DataLoader(..., num_workers={workers}, persistent_workers=True)",
            gain=seen.gains.restart if seen.workers else seen.gains.input,
        )
    ]


def _compute(seen: Situation) -> list[Variant]:
    out = []
    if seen.threads:
        numbers = sorted({1, max(seen.cores // 2, 1), seen.cores})
        out += [
            Variant(
                name=f"{number} thread{'s' if number > 1 else ''} for operators",
                changes=Changes(threads=number),
                lines=f"torch.set_num_threads({number})",
            )
            for number in numbers
        ]
    device = "cuda" if seen.has_gpu else "cpu"
    out.append(
        Variant(
            name="mixed precision with bfloat16",
            changes=Changes(autocast="bfloat16"),
            lines=f'with torch.autocast("{device}", dtype=torch.bfloat16): ...',
            gain=seen.gains.tensor_cores,
        )
    )
    if seen.has_gpu:
        out.append(
            Variant(
                name="TF32",
                changes=Changes(tf32=True),
                lines='torch.set_float32_matmul_precision("high")',
                gain=seen.gains.tensor_cores,
            )
        )
    if seen.has_convolutions:
        out.append(
            Variant(
                name="channels last",
                changes=Changes(channels_last=True),
                lines="model = model.to(memory_format=torch.channels_last)  # and the images",
            )
        )
    out.append(
        Variant(
            name="compiled model",
            changes=Changes(compile=True),
            lines="model = torch.compile(model)",
            gain=seen.gains.launch,
        )
    )
    if seen.optimizer:
        out.append(
            Variant(
                name="fused optimizer",
                changes=Changes(fused=True),
                lines="optimizer = torch.optim.AdamW(..., fused=True)",
            )
        )
    return out


def varied(spec: str, arguments: Sequence[str]) -> tuple[Variant, ...]:
    """``--batch-size=32,64`` as variants of the script's own arguments.

    Raises:
        OptionError: It names no option and values.
    """
    option, _, values = spec.strip().partition("=")
    if not option.startswith("-") or not values:
        raise OptionError(f'--vary takes for instance "--batch-size=32,64", not {spec!r}')
    return tuple(
        Variant(
            name=f"{option} {value}",
            changes=Changes(),
            arguments=_replaced(option, value, arguments),
            lines=f"call the script with {option}={value}",
            note="Steps with other arguments may do other work.",
        )
        for value in values.split(",")
    )


def _replaced(option: str, value: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments with an option set, wherever it stood."""
    out = list(arguments)
    for place, one in enumerate(out):
        if one == option and place + 1 < len(out):
            return (*out[:place], option, value, *out[place + 2 :])
        if one.startswith(f"{option}="):
            return (*out[:place], f"{option}={value}", *out[place + 1 :])
    return (*out, f"{option}={value}")

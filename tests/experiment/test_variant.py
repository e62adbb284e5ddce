"""Which changes are tried on which script."""

from __future__ import annotations

from dataclasses import replace

import msgspec.structs
import pytest

from stepscope.errors import OptionError
from stepscope.experiment.variant import Situation, variants_for, varied
from stepscope.predict import Gains, Plan, WorkersGain
from stepscope.schema.report import Gain

TWICE = Gain(low=1.9, high=2.1, unit="ratio", step_ms_low=1, step_ms_high=2, basis="replay")
CPU = Situation(
    gains=Gains(error_frac=0.0, withheld=""),
    wait_frac=0.5,
    has_loader=True,
    workers=0,
    restarts=False,
    cores=4,
    threads=True,
    has_gpu=False,
    has_convolutions=False,
    optimizer=False,
)
GPU = replace(CPU, threads=False, has_gpu=True)


def names(seen):
    return [one.name for one in variants_for(seen)]


def test_workers_are_tried_around_the_number_that_is_needed():
    gains = Gains(
        error_frac=0.0,
        withheld="",
        input=TWICE,
        workers=(WorkersGain(1, msgspec.structs.replace(TWICE, low=1.2)), WorkersGain(2, TWICE)),
        plan=Plan(2, 20e6, 10e6, 3, 2, 1.0, 15e6),
    )
    found = {one.name: one for one in variants_for(replace(CPU, gains=gains))}
    assert [name for name in found if "worker" in name] == [
        "1 loader worker",
        "2 loader workers",
        "4 loader workers",
    ]
    assert found["1 loader worker"].gain == msgspec.structs.replace(TWICE, low=1.2)
    assert found["4 loader workers"].gain == TWICE
    assert found["2 loader workers"].changes.workers == 2
    assert "num_workers=2" in found["2 loader workers"].lines


def test_workers_that_end_with_each_epoch_are_also_tried_to_live_on():
    kept = [name for name in names(replace(CPU, restarts=True)) if "kept" in name]
    assert kept == ["4 loader workers kept between epochs"]
    assert not any("kept" in name for name in names(CPU))


def test_a_loader_that_keeps_up_is_left_alone():
    assert not any("worker" in name for name in names(replace(CPU, wait_frac=0.02)))
    assert not any("worker" in name for name in names(replace(CPU, has_loader=False)))


def test_what_the_script_does_already_is_not_tried():
    found = names(replace(CPU, workers=4))
    assert "4 loader workers" not in found
    assert "prefetch 8 batches a worker" in found


def test_threads_matter_on_the_cpu_and_pinning_and_tf32_on_a_gpu():
    on_cpu, on_gpu = names(CPU), names(GPU)
    assert {"1 thread for operators", "4 threads for operators"} < set(on_cpu)
    assert {"pinned memory", "TF32"} < set(on_gpu)
    assert not {"pinned memory", "TF32"} & set(on_cpu)
    assert not any("thread" in name for name in on_gpu)


def test_convolutions_and_optimizers_bring_their_changes():
    assert "channels last" in names(replace(CPU, has_convolutions=True))
    assert "channels last" not in names(CPU)
    assert "fused optimizer" in names(replace(CPU, optimizer=True))
    assert "fused optimizer" not in names(CPU)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--lr", "1"), ("--lr", "1", "--batch-size=32")),
        (("--batch-size", "8", "x"), ("--batch-size", "32", "x")),
        (("a", "--batch-size=8"), ("a", "--batch-size=32")),
        (("--batch-size",), ("--batch-size", "--batch-size=32")),
    ],
)
def test_an_option_is_replaced_where_it_stands(arguments, expected):
    first, second = varied("--batch-size=32,64", arguments)
    assert first.arguments == expected
    assert "64" in second.name
    assert first.note


@pytest.mark.parametrize("spec", ["batch=3", "--batch-size", "--batch-size=", ""])
def test_what_names_no_option_and_values_is_refused(spec):
    with pytest.raises(OptionError, match="--vary"):
        varied(spec, ())

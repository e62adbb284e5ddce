"""What is read from a script without running it."""

import pytest

from stepscope.schema.machine import LoaderCall
from stepscope.watch.script import read_script


def read(tmp_path, text):
    path = tmp_path / "train.py"
    path.write_text(text)
    return read_script(path)


@pytest.mark.parametrize(
    ("call", "workers", "pins"),
    [
        ("DataLoader(d)", 0, False),
        ("torch.utils.data.DataLoader(d, num_workers=4, pin_memory=True)", 4, True),
        ("DataLoader(d, 8, True, None, None, 3)", 3, False),
        ("DataLoader(d, num_workers=args.workers)", None, False),
        ("DataLoader(d, **options)", None, False),
        ("DataLoader(*everything)", None, False),
    ],
)
def test_loaders(tmp_path, call, workers, pins):
    facts = read(tmp_path, f"import torch\nx = {call}\n")
    assert facts.loaders == (LoaderCall(line=2, workers=workers, pins=pins),)


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("model.to('cuda')", True),
        ("model.cuda()", True),
        ("torch.zeros(3, device=d)", True),
        ("torch.set_default_device('cuda')", True),
        ("model(x).backward()", False),
    ],
)
def test_moving_to_a_device(tmp_path, text, moves):
    assert read(tmp_path, text).moves_to_device is moves


@pytest.mark.parametrize(
    ("text", "lowers"),
    [
        ("with torch.autocast('cuda'): pass", True),
        ("torch.backends.cuda.matmul.allow_tf32 = True", True),
        ("Trainer(precision='bf16')", True),
        ("model.bfloat16()", True),
        ("x = 1", False),
    ],
)
def test_lower_precision(tmp_path, text, lowers):
    assert read(tmp_path, text).lowers_precision is lowers


def test_frameworks(tmp_path):
    assert read(tmp_path, "from lightning.pytorch import Trainer").framework == "lightning"
    assert read(tmp_path, "import transformers.trainer").framework == "transformers"
    assert read(tmp_path, "import torch").framework == ""


@pytest.mark.parametrize("text", ["def (", "x = '\x00'"])
def test_what_is_not_python_is_said(tmp_path, text):
    assert "not Python" in read(tmp_path, text).error


def test_a_script_that_is_not_there_is_said(tmp_path):
    assert "cannot be read" in read_script(tmp_path / "none.py").error

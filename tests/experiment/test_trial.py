"""Real trials: what the script asks for is changed from outside, and the script is not."""

from __future__ import annotations

import pytest

from stepscope.experiment import trial
from stepscope.experiment.look import situation_of
from stepscope.record.hooks.changes import Changes

pytest.importorskip("torch", reason="trials need PyTorch")

SCRIPT = """
import sys
import torch
from torch.utils.data import DataLoader

model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.Flatten(), torch.nn.LazyLinear(2))
data = [(torch.randn(3, 8, 8), 1) for _ in range(400)]
loader = DataLoader(data, 4, False, num_workers=0)
torch.set_num_threads(2)
model(torch.zeros(1, 3, 8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_function = torch.nn.CrossEntropyLoss()
for images, labels in loader:
    out = model(images)
    optimizer.zero_grad()
    loss_function(out, labels).backward()
    optimizer.step()
    print(
        f"workers={loader.num_workers} prefetch={loader.prefetch_factor} persistent={loader.persistent_workers}",
        f"threads={torch.get_num_threads()} dtype={out.dtype} fused={optimizer.defaults['fused']}",
        f"last={model[0].weight.is_contiguous(memory_format=torch.channels_last)}",
        f"arguments={sys.argv[1:]}",
    )
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return path


def printed(script, tmp_path, changes, *arguments):
    made = trial.run((str(script), *arguments), changes, tmp_path / "run", steps=3, first=True)
    assert isinstance(made, trial.Trial), made
    lines = (tmp_path / "run.log").read_text(encoding="utf-8").splitlines()
    return made, [line for line in lines if line.startswith("workers=")][-1]


@pytest.mark.slow
def test_without_a_change_the_script_has_its_way(script, tmp_path):
    made, line = printed(script, tmp_path, Changes(), "--epochs", "2")
    assert "workers=0 prefetch=None persistent=False threads=2 dtype=torch.float32" in line
    assert "fused=None last=False arguments=['--epochs', '2']" in line
    assert made.step_ns("means") > 0
    assert len(made.losses) >= 5
    seen = situation_of(made.folder)
    assert seen.has_loader
    assert seen.has_convolutions
    assert seen.optimizer
    assert not seen.has_gpu
    assert seen.workers == 0


@pytest.mark.slow
def test_with_changes_pytorch_does_otherwise(script, tmp_path):
    changes = Changes(
        workers=1,
        prefetch=3,
        persistent=True,
        threads=1,
        autocast="bfloat16",
        channels_last=True,
        fused=True,
    )
    _, line = printed(script, tmp_path, changes)
    assert "workers=1 prefetch=3 persistent=True threads=1 dtype=torch.bfloat16" in line
    assert "fused=True last=True" in line
    assert script.read_text(encoding="utf-8") == SCRIPT


@pytest.mark.slow
def test_a_script_that_fails_is_told_in_words(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import torch\nraise SystemExit(3)\n", encoding="utf-8")
    made = trial.run((str(path),), Changes(), tmp_path / "run", steps=3, first=False)
    assert isinstance(made, str)
    assert "status 3" in made


@pytest.mark.slow
def test_a_script_without_steps_is_told_in_words(tmp_path):
    path = tmp_path / "idle.py"
    path.write_text("import torch\n", encoding="utf-8")
    made = trial.run((str(path),), Changes(), tmp_path / "run", steps=3, first=False)
    assert isinstance(made, str)
    assert "too few steps" in made

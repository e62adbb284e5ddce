"""What a loader feeds, as it is found out while the script runs."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="loaders are PyTorch's")

from stepscope.record.guard import Guard  # noqa: E402
from stepscope.record.loaders import ROLE_EVERY, Loaders  # noqa: E402
from stepscope.record.voice import Voice  # noqa: E402

TRAINING, EVALUATION = 40, 5
"""Batches of an epoch; shorter than ``ROLE_EVERY``."""


class Script:
    """Trains and evaluates with gradients on, as far as loaders are concerned."""

    def __init__(self, folder):
        self.loaders = Loaders(folder, Guard(Voice()))
        self.loaders.trains = True
        data = torch.utils.data.TensorDataset(torch.zeros(8))
        self.training = torch.utils.data.DataLoader(data)
        self.evaluation = torch.utils.data.DataLoader(data)

    def epoch(self, loader, batches, *, steps):
        """Reads so many batches; what each was taken to be for."""
        iterator = iter(loader)
        self.loaders.starts(loader, iterator)
        fed = []
        for _ in range(batches):
            fed.append(self.loaders.feeds(iterator, has_grad=True))
            self.loaders.delivered(iterator, 0, 1, has_grad=True)
            if steps:
                self.loaders.stepped()
        return fed


def test_an_evaluation_with_gradients_on_is_told_from_its_second_time_on(tmp_path):
    assert TRAINING < ROLE_EVERY
    script = Script(tmp_path)
    told = []
    for _ in range(4):
        assert all(script.epoch(script.training, TRAINING, steps=True))
        told.append(script.epoch(script.evaluation, EVALUATION, steps=False))
    assert [any(fed) for fed in told] == [True, False, False, False]
    roles = [use.role for use in script.loaders.uses()]
    assert roles == ["training", "evaluation"]

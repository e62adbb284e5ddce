"""A small network and its training loop, shared by the programs beside it.

With CLINIC_TIMES in the environment, the loop ends after some steps and writes their mean length there, the
time left out in which the thread could run but had no core: others on the machine shall not count.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import torch
from torch import nn

WIDTH, CLASSES, BATCH, STEPS = 768, 64, 96, 400
WARM, TIMED = 10, 60


def options():
    """Whether the planted bottleneck is taken out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true", help="without the planted bottleneck")
    return parser.parse_args()


def workers_of_twin(otherwise):
    """Loader workers without the bottleneck: as many as were recommended for the planted run."""
    return int(os.environ.get("CLINIC_WORKERS", otherwise))


def make_model():
    """Some two million parameters, trained on one thread, so that runs are alike on every machine."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, CLASSES),
    )


def batches():
    """Random batches that are there at once."""
    generator = torch.Generator().manual_seed(1)
    made = [
        (
            torch.randn(BATCH, WIDTH, generator=generator),
            torch.randint(CLASSES, (BATCH,), generator=generator),
        )
        for _ in range(4)
    ]
    return [made[number % len(made)] for number in range(STEPS)]


class Watch:
    """Times the steps from the second on; stops the program after enough of them."""

    def __init__(self):
        self.path = os.environ.get("CLINIC_TIMES")
        self.seen, self.begun = 0, 0

    def step(self):
        """A batch is there."""
        if self.path is None:
            return
        self.seen += 1
        if self.seen == WARM:
            self.begun = self.now()
        elif self.seen == WARM + TIMED:
            Path(self.path).write_text(str((self.now() - self.begun) / TIMED), encoding="utf-8")
            sys.exit()

    def now(self):
        """Nanoseconds, without those in which the thread waited for a core (see proc(5), schedstat)."""
        waited = Path("/proc/thread-self/schedstat").read_text(encoding="utf-8").split()[1]
        return time.perf_counter_ns() - int(waited)


def train(model, data, prepare=None, after=None):
    """Train on everything; ``prepare`` changes each batch, ``after`` is called behind each step."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_function = nn.CrossEntropyLoss()
    watch = Watch()
    for inputs, labels in data:
        watch.step()
        if prepare is not None:
            inputs, labels = prepare(inputs, labels)
        outputs = model(inputs)
        loss = loss_function(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if after is not None:
            after(model, outputs.detach(), labels, loss.item())

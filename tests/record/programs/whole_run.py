"""A run with everything in it, which clocks its own parts: start-up, two epochs, evaluation, checkpoints, an end.

With ``--logging`` it sleeps after each step, with ``--loss`` the loss is costly. The clocks go to standard error.
"""

import argparse
import contextlib
import io
import sys
import time

BEGIN = time.perf_counter()
import torch  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--logging", type=float, default=0.0)
parser.add_argument("--loss", type=float, default=0.0)
parser.add_argument("--validate", type=float, default=0.02)
parser.add_argument("--with-grad", action="store_true")
options = parser.parse_args()
torch.manual_seed(0)
torch.set_num_threads(1)
clocks = dict.fromkeys(("startup", "evaluation", "checkpoint", "exit", "steps"), 0.0)


@contextlib.contextmanager
def clock(name):
    begin = time.perf_counter()
    yield
    clocks[name] += time.perf_counter() - begin


class Points(Dataset):
    def __init__(self, count, seconds):
        self.count, self.seconds = count, seconds

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.seconds)
        return torch.full((8,), float(index))


class Slow:
    """Saves slowly, as a network file system would."""

    def __reduce__(self):
        time.sleep(0.05)
        return (list, ())


def costly_loss(outputs):
    time.sleep(options.loss)
    return outputs.square().mean()


def planted_logging():
    time.sleep(options.logging)


def evaluate():
    with clock("evaluation"):
        context = contextlib.nullcontext() if options.with_grad else torch.no_grad()
        with context:
            total = sum(model(batch).sum().item() for batch in validation)
    return total


training = DataLoader(Points(80, 0.0002), batch_size=4)
validation = DataLoader(Points(8, options.validate), batch_size=4)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
evaluate()
step = 0
for _ in range(2):
    for batch in training:
        loss = costly_loss(model(batch))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 0:
            clocks["startup"] = time.perf_counter() - BEGIN - clocks["evaluation"]
            first = dict(clocks)
            loop = time.perf_counter()
        step += 1
        planted_logging()
        if step % 10 == 0:
            evaluate()
    with clock("checkpoint"):
        torch.save({"model": model.state_dict(), "slow": Slow()}, io.BytesIO())
    time.sleep(0.05)
with clock("exit"):
    time.sleep(0.1)
clocks["wall"] = time.perf_counter() - BEGIN
print(*(f"{name}={seconds}" for name, seconds in clocks.items()), file=sys.stderr)
print(loss.item())

"""A data set that clocks itself: how it makes batches, how many workers and how they start are arguments.

Every process that made batches leaves what its own clocks say in a file of the folder that the environment
names: of the items and of the collation, wall and CPU time in nanoseconds.
"""

import argparse
import os
import tempfile
import time
from multiprocessing.util import Finalize
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=("computes", "waits", "collates"))
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--context", default="fork")
parser.add_argument("--iterable", action="store_true")
parser.add_argument("--batches", type=int, default=24)
options = parser.parse_args()
BATCH = 4
folder = Path(os.environ.setdefault("CLOCKED_FOLDER", tempfile.mkdtemp()))


def burn(seconds):
    """Compute until the thread has used so much CPU time."""
    end = time.thread_time() + seconds
    value = 1
    while time.thread_time() < end:
        value = value * 1103515245 % 2147483648
    return value


def planted_transform():
    burn(0.006)


def planted_read(path):
    with path.open("rb") as stream:
        first = stream.read(3000)
    time.sleep(0.006)
    return first


class Clock:
    """Adds up wall and CPU time, and leaves the sums in a file when this process ends."""

    def __init__(self, name):
        self.name, self.wall, self.cpu, self.pid = name, 0, 0, None

    def __enter__(self):
        if self.pid != os.getpid():
            self.pid = os.getpid()
            # Workers end without running what is registered with atexit.
            Finalize(None, self.leave, exitpriority=1)
        self.begin = time.perf_counter_ns(), time.thread_time_ns()

    def __exit__(self, *_):
        self.wall += time.perf_counter_ns() - self.begin[0]
        self.cpu += time.thread_time_ns() - self.begin[1]

    def leave(self):
        (folder / f"{self.name}-{self.pid}").write_text(f"{self.wall} {self.cpu}")


items, collation = Clock("items"), Clock("collate")


def make(index):
    with items:
        if options.kind == "computes":
            planted_transform()
        elif options.kind == "waits":
            planted_read(folder / f"data-{index % 8}.bin")
        return torch.full((4,), float(index))


class Indexed(Dataset):
    def __len__(self):
        return options.batches * BATCH

    def __getitem__(self, index):
        return make(index)


class Iterated(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, every = (worker.id, worker.num_workers) if worker else (0, 1)
        for index in range(first, options.batches * BATCH, every):
            yield make(index)


def planted_collate(samples):
    with collation:
        if options.kind == "collates":
            burn(0.024)
        return torch.stack(samples)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    for number in range(8):
        (folder / f"data-{number}.bin").write_bytes(bytes(3000))
    loader = DataLoader(
        Iterated() if options.iterable else Indexed(),
        batch_size=BATCH,
        num_workers=options.workers,
        collate_fn=planted_collate,
        multiprocessing_context=options.context if options.workers else None,
    )
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-9)
    for batch in loader:
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()

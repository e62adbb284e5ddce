"""Profiles itself, with a schedule that begins in the middle of the run."""

import sys

import torch
from torch.profiler import profile, schedule

torch.manual_seed(0)
model = torch.nn.Linear(8, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
counts = []


def train(steps, each):
    for _ in range(steps):
        loss = model(torch.randn(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        each()
    return loss


def ready(profiler):
    names = [event.key for event in profiler.key_averages()]
    counts.append(("aten::linear" in names, sum(name.startswith("ProfilerStep") for name in names)))


train(int(sys.argv[1]), lambda: None)
with profile(
    schedule=schedule(wait=2, warmup=1, active=3, repeat=2), on_trace_ready=ready
) as profiler:
    train(12, profiler.step)
loss = train(int(sys.argv[2]), lambda: None)
print(counts, repr(loss.item()))

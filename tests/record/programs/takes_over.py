"""Records a part of itself with the profiler, whether or not somebody times its steps already."""

import sys

import torch

import stepscope

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train(steps):
    for _ in range(steps):
        loss = model(torch.ones(4, 8)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train(10)
with stepscope.profile(out=sys.argv[1], warmup=2, clean=3, active=2, analyze=False, watch=False):
    train(20)
train(10)

"""Records a part of itself by hand; has neither optimizer nor loader."""

import sys

import torch

import stepscope

torch.manual_seed(0)
weight = torch.randn(8, 8)
with stepscope.profile(out=sys.argv[1], warmup=3, clean=10, active=5, analyze=False) as run:
    for _ in range(40):
        weight = torch.tanh(weight @ weight)
        run.step()
print(run.path, repr(weight.sum().item()))

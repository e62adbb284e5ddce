"""Trains until the window is open, then ends the process as it is told: os._exit, or a signal to itself."""

import os
import signal
import sys

import torch

end, at = sys.argv[1], int(sys.argv[2])
torch.manual_seed(0)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(at + 1):
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, repr(loss.item()), flush=True)
    if step == at:
        if end == "os._exit":
            os._exit(7)
        os.kill(os.getpid(), getattr(signal, end))

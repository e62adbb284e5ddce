"""Trains until its light recording is on disk, and ends as it is told: watched.py exit|SIGKILL|signal."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

end = sys.argv[1]
folder = os.environ.get("STEPSCOPE_RUN")
file = Path(folder or ".", "rank0", "light.csv")
torch.manual_seed(0)
random.seed(0)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def train():
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


for step in range(30):
    print(step, train().item().hex())
print("handler", signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL, random.random().hex())
sys.stdout.flush()
deadline = time.monotonic() + 60
while end == "SIGKILL" and folder and time.monotonic() < deadline:
    train()
    if file.is_file() and file.read_text().count("\n") > 20:
        break
if end != "exit":
    os.kill(os.getpid(), getattr(signal, end))
sys.exit(5)

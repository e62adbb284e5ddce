"""Two optimizers in turn, no DataLoader; the number of steps is the first argument."""

import sys

import torch

torch.manual_seed(0)
maker, judge = torch.nn.Linear(4, 4), torch.nn.Linear(4, 1)
maker_optimizer = torch.optim.Adam(maker.parameters(), lr=0.01)
judge_optimizer = torch.optim.Adam(judge.parameters(), lr=0.01)
for step in range(int(sys.argv[1]) if len(sys.argv) > 1 else 40):
    real, noise = torch.randn(16, 4) + 1, torch.randn(16, 4)
    judge_loss = judge(maker(noise).detach()).mean() - judge(real).mean()
    judge_optimizer.zero_grad()
    judge_loss.backward()
    judge_optimizer.step()
    maker_loss = -judge(maker(noise)).mean()
    maker_optimizer.zero_grad()
    maker_loss.backward()
    maker_optimizer.step()
    print("step", step, flush=True)
print(repr(judge_loss.item()), repr(maker_loss.item()), torch.rand(1).item())

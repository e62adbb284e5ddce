"""A small data-parallel training that Slurm's tasks start: srun python train_ddp.py [--late-rank 1]."""

import argparse
import os
import time

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def join() -> tuple[int, torch.device]:
    """Joins the job: the place from torchrun where it runs, else from Slurm; this task's rank and device."""
    os.environ.setdefault("RANK", os.environ["SLURM_PROCID"])
    os.environ.setdefault("WORLD_SIZE", os.environ["SLURM_NTASKS"])
    local = int(os.environ.get("LOCAL_RANK", os.environ["SLURM_LOCALID"]))
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", local % torch.cuda.device_count())
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return distributed.get_rank(), device


def main() -> None:
    """Trains for a few steps."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--late-rank", type=int, default=-1, help="a rank that dawdles")
    parser.add_argument("--late-ms", type=float, default=50.0, help="for how long, in each step")
    args = parser.parse_args()
    rank, device = join()
    torch.manual_seed(0)
    net = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(8)])
    model = DistributedDataParallel(net.to(device), bucket_cap_mb=1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    data = TensorDataset(torch.randn(args.steps * 16 * distributed.get_world_size(), 256))
    loader = DataLoader(data, batch_size=16, sampler=DistributedSampler(data))
    for (batch,) in loader:
        if rank == args.late_rank:
            time.sleep(args.late_ms / 1000)
        loss = (model(batch.to(device)) - batch.to(device)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rank == 0:
        print(f"trained, loss {loss.item():.3f}")
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()

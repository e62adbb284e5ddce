#!/bin/bash
#SBATCH --job-name=profile-ddp
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
## with GPUs also: #SBATCH --gpus-per-node=2

# usage: sbatch profile_ddp.sh [arguments of the training script]

# This script runs on the first node, on which rank 0 will be.
export MASTER_ADDR=$(hostname)
export MASTER_PORT=${MASTER_PORT:-$((20000 + SLURM_JOB_ID % 20000))}
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}

# Each task records itself, the same 12 steps on all, which are enough to tell a late rank from chance.
# All write to one folder; rank 0 reports when the others are done.
srun stepscope profile --warmup 5 --active 12 --out "runs/$SLURM_JOB_ID" train_ddp.py "$@"

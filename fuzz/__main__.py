"""Runs the fuzzer: ``python -m fuzz [--count N] [--seconds S] [--seed S] [--jobs N] [--keep DIR]``.

Every input has a number, and the same number and seed make the same input, so that a failure is made
again with ``--first N --count 1``. Exit status 1 when anything failed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from fuzz.campaign import run_share


def main() -> int:
    """Runs the campaign and prints what came out."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="inputs (default 100000)")
    parser.add_argument(
        "--seconds", type=float, default=0, help="stop after so long (default: never)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--jobs", type=int, default=multiprocessing.cpu_count())
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-failures"), help="where failing inputs go"
    )
    args = parser.parse_args()
    began = time.monotonic()
    jobs = max(1, min(args.jobs, args.count))
    shares = [
        (args.first + n, args.first + args.count, jobs, args.seed, args.seconds)
        for n in range(jobs)
    ]
    if jobs == 1:
        outcomes = [run_share(shares[0])]
    else:
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
            outcomes = list(pool.map(run_share, shares))
    failures = [failure for outcome in outcomes for failure in outcome.failures]
    for failure in failures:
        args.keep.mkdir(parents=True, exist_ok=True)
        (args.keep / f"{args.seed}-{failure.number}").write_bytes(failure.data)
        print(f"input {failure.number}: {failure.what}")
    read, refused = sum(o.read for o in outcomes), sum(o.refused for o in outcomes)
    print(
        f"{read + refused + len(failures)} inputs in {time.monotonic() - began:.0f} s: {read} read, {refused} refused "
        f"in one line, {len(failures)} failed"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

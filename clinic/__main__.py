"""Examine every case and print what was planted, named, predicted and measured.

usage: python -m clinic [--only WORD] [--traces] [--write FILE]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from clinic import made, measure, run_for_real, table
from clinic.case import Made

MARK = "<!-- the table below is written by make clinic -->"


def main() -> int:
    """Runs the clinic; exit status 0 whatever it finds, because misses belong into the table."""
    options = _options()
    rows = []
    real = () if options.traces else (*run_for_real.CASES, *run_for_real.HEALTHY)
    for case in (*made.CASES, *made.HEALTHY, *real):
        if options.only in case.name:
            row = measure.of_made(case) if isinstance(case, Made) else measure.of_program(case)
            rows.append(row)
            print(table.lines(rows)[-1], flush=True)
    rows.sort(key=lambda row: not row.code)
    out = [*table.totals(rows)]
    print("\n".join(out))
    if options.write:
        page = Path(options.write)
        head = page.read_text(encoding="utf-8").partition(MARK)[0]
        page.write_text("\n".join([head + MARK, "", *out, "", *table.lines(rows), ""]), "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m clinic", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose name holds this")
    parser.add_argument("--traces", action="store_true", help="leave the runs on the CPU out")
    parser.add_argument("--write", metavar="FILE", help="page whose table is replaced")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())

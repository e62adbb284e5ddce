"""Coverage-guided fuzzing with atheris: damage that reaches new lines of the reader is damaged further.

``python -m fuzz.guided [SECONDS]`` needs ``pip install atheris``. A failing input is left as a file, and the exit
status is not 0. What it found interesting is kept in ``fuzz-corpus`` for the next time.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["stepscope"]):
    from fuzz.invariants import check_file

from fuzz.mutations import mutated
from fuzz.seeds import seeds

CORPUS = Path("fuzz-corpus")
LONGEST_BYTES = 200_000


def main() -> None:
    """Fuzzes for so many seconds (600 unless told)."""
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 600
    CORPUS.mkdir(exist_ok=True)
    for number, text in enumerate(seeds()):
        (CORPUS / f"seed-{number}").write_bytes(text)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input.json"

        def check(data: bytes) -> None:
            path.write_bytes(data)
            check_file(str(path), with_python=len(data) % 3 == 0)

        def damage(data: bytes, most: int, seed: int) -> bytes:
            return mutated(data, Random(seed))[:most]

        options = [f"-max_total_time={seconds}", f"-max_len={LONGEST_BYTES}", "-timeout=60"]
        atheris.Setup([sys.argv[0], *options, str(CORPUS)], check, custom_mutator=damage)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

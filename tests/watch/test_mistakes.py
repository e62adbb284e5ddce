"""The mistakes that computing centres name in their documentation, and who finds each here."""

import pytest

from stepscope.watch import before, during
from tests.watch import test_before, test_during

NAMED = {
    "GPU allocated, none used": ("WA001",),
    "some of the GPUs used": ("WA002", "CK005"),
    "CPU build of PyTorch, no CUDA, model on the CPU": ("CK002", "CK003", "CK024"),
    "driver older than the wheel's CUDA": ("CK003",),
    "no or too few loader workers, or more than cores": ("WA020", "CK022", "CK023"),
    "cores asked but not bound": ("CK010",),
    "OMP_NUM_THREADS unset, 1, or too many threads": ("CK011", "CK012", "CK013", "WA021"),
    "small files on a shared file system": ("WA022", "CK020"),
    "Python environment on a parallel file system": ("CK021",),
    "swap and memory pressure, or five times too much asked": ("WA023", "WA024"),
    "/dev/shm full": ("WA025", "CK014"),
    "outside the job's control group": ("CK031",),
    "low draw at high utilisation": ("WA005",),
    "power or thermal cap": ("WA006",),
    "too much GPU": ("WA008",),
    "idle notebook": ("WA009",),
    "time limit ten times the use": ("WA028",),
    "memory above the GPU's share": ("CK032",),
    "GPUs over more nodes than needed": ("CK033",),
    "no lower precision": ("WA007", "CK025"),
    "on the login node": ("CK030",),
    "memory that grows": ("WA026", "WA027"),
}


@pytest.mark.parametrize("mistake", NAMED)
def test_each_is_found_by_a_rule_that_has_its_tests(mistake):
    known = {one.code for one in before.MISTAKES} | {one.code for one in during.MISTAKES}
    fires = {code for code, _ in (*test_before.FIRES, *test_during.FIRES)}
    silent = {code for code, _ in (*test_before.SILENT, *test_during.BELOW)}
    for code in NAMED[mistake]:
        assert code in known
        assert code in fires
        assert code in silent

"""Clusters for the tests of this folder."""

import shutil
import tempfile
from pathlib import Path

import pytest

from tests.slurm.cluster import ACCOUNTING, PROGRAMS, Cluster, missing


def running(programs, **how):
    """A cluster for as long as its tests last, in a folder of its own.

    Not in pytest's: every start of pytest shuts that one to all other users, the database's too.
    """
    why = missing(programs)
    if why:
        pytest.skip(why)
    base = Path(tempfile.mkdtemp(prefix="slurm-"))
    cluster = Cluster(base, **how)
    try:
        yield cluster.up()
    finally:
        cluster.down()
        shutil.rmtree(base)


@pytest.fixture(scope="session")
def cluster():
    yield from running(PROGRAMS)


@pytest.fixture(scope="session")
def accounted_cluster():
    yield from running((*PROGRAMS, *ACCOUNTING), nodes=1, accounts=True, port=17600)

"""Clusters for the tests of this folder."""

import shutil
import socket
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.slurm.cluster import ACCOUNTING, PROGRAMS, Cluster, missing

PORTS = range(17400, 24000, 300)
"""Beginnings of ranges of ports; a cluster takes a range that no other cluster of this machine has."""


@contextmanager
def free_ports():
    """A range of ports for one cluster; its last port is held, so that nobody else takes the range.

    Workers of one run of the tests, and several runs at a time, each have clusters of their own.
    """
    for first in PORTS:
        with socket.socket() as held:
            try:
                held.bind(("127.0.0.1", first + PORTS.step - 1))
            except OSError:
                continue
            # A run that was killed leaves daemons behind without holding their range.
            if not any(is_answered(first + place) for place in (0, 1, 2, 90, 91)):
                yield first
                return
    pytest.skip("no range of ports is free for a cluster")


def is_answered(port):
    """Whether somebody listens on a port of this machine."""
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def running(programs, **how):
    """A cluster for as long as its tests last, in a folder of its own.

    Not in pytest's: every start of pytest shuts that one to all other users, the database's too.
    """
    why = missing(programs)
    if why:
        pytest.skip(why)
    base = Path(tempfile.mkdtemp(prefix="slurm-"))
    with free_ports() as port:
        cluster = Cluster(base, port=port, **how)
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
    yield from running((*PROGRAMS, *ACCOUNTING), nodes=1, accounts=True)

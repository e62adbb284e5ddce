"""One cluster for all tests of this folder."""

import pytest

from tests.slurm.cluster import Cluster, missing


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    why = missing()
    if why:
        pytest.skip(why)
    running = Cluster(tmp_path_factory.mktemp("slurm")).up()
    yield running
    running.down()

"""One analysis a file: checked tables of one rank in, one frozen result out.

Every module here but ``base``, ``results`` and ``summary`` ends in ``ANALYSIS`` and is listed below; a test
holds the list against the folder.
"""

from stepscope.analysis import (
    allocator,
    collectives,
    communication,
    copies,
    facts,
    gpu,
    kernels,
    launches,
    loader,
    memory,
    operators,
    overview,
    partition,
    spread,
    startup,
    sync,
    timeline,
)

ANALYSES = (
    facts.ANALYSIS,
    spread.ANALYSIS,
    startup.ANALYSIS,
    partition.ANALYSIS,
    overview.ANALYSIS,
    gpu.ANALYSIS,
    loader.ANALYSIS,
    kernels.ANALYSIS,
    operators.ANALYSIS,
    copies.ANALYSIS,
    sync.ANALYSIS,
    launches.ANALYSIS,
    communication.ANALYSIS,
    collectives.ANALYSIS,
    allocator.ANALYSIS,
    memory.ANALYSIS,
    timeline.ANALYSIS,
)
"""All analyses, in the order in which a reader asks."""

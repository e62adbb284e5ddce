"""Sites: one TOML file each, chosen by name or by what Slurm calls the cluster."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from stepscope.cost.rates import rate_of
from stepscope.cost.toml_file import read_toml
from stepscope.errors import InputError, OptionError
from stepscope.schema.site import Site

if TYPE_CHECKING:
    from collections.abc import Mapping

    from stepscope.schema.cost import RateUsed
    from stepscope.schema.site import Partition


class SiteRates(Struct, frozen=True):
    """A site and the PUE that it publishes; ``pue`` is ``None`` when it publishes none."""

    site: Site
    pue: RateUsed | None


def read_site(path: Path) -> SiteRates:
    """A site's description from its file.

    Raises:
        InputError: The file cannot be read or is not a description of a site.
    """
    document = read_toml(path)
    pue = document.pop("pue", None)
    try:
        site = msgspec.convert({**document, "origin": str(path)}, Site)
    except msgspec.ValidationError as error:
        raise InputError(f"does not describe a site: {error}", path=str(path)) from error
    rate = None if pue is None else rate_of("pue", site.name, pue, path, "site")
    return SiteRates(site, rate)


def built_in() -> tuple[SiteRates, ...]:
    """All sites that come with stepscope, by file name."""
    folder = Path(str(files("stepscope.cost"))) / "sites"
    return tuple(read_site(path) for path in sorted(folder.glob("*.toml")))


def find_site(name: str) -> SiteRates:
    """The site of that name, or described in the file of that name.

    Raises:
        OptionError: There is no such site.
        InputError: It is a file that does not describe a site.
    """
    if name.endswith(".toml"):
        return read_site(Path(name))
    sites = built_in()
    for known in sites:
        if name.lower() in {known.site.name.lower(), *known.site.cluster_names}:
            return known
    names = ", ".join(known.site.name for known in sites)
    raise OptionError(f"there is no site {name!r}; there are {names}, and files that end in .toml")


def detect_site(environ: Mapping[str, str]) -> SiteRates | None:
    """The site whose Slurm cluster this is; ``None`` when it is none that we know."""
    cluster = environ.get("SLURM_CLUSTER_NAME") or ask_slurm()
    if not cluster:
        return None
    for known in built_in():
        if cluster.lower() in known.site.cluster_names:
            return known
    return None


def ask_slurm() -> str:
    """The cluster's name as Slurm's controller gives it; ``""`` without Slurm or without an answer."""
    scontrol = shutil.which("scontrol")
    if scontrol is None:
        return ""
    try:
        run = subprocess.run(  # noqa: S603
            [scontrol, "show", "config"], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(r"^ClusterName\s*=\s*(\S+)", run.stdout, re.MULTILINE)
    return match[1] if match else ""


def charged_gpus(
    partition: Partition, gpus: int, cores: int | None, memory_gib: float | None
) -> int:
    """How many devices' shares an allocation is charged: the largest of its three shares, rounded up."""
    shares = [float(gpus)]
    if cores is not None:
        shares.append(cores / partition.cores_per_gpu)
    if memory_gib is not None:
        shares.append(memory_gib / partition.memory_gib_per_gpu)
    return math.ceil(max(shares))

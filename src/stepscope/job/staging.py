"""Measures what reading the data set's files on another file system would take, for the prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.errors import InputError
from stepscope.job.loaders import files_of
from stepscope.predict import Staging
from stepscope.units import NS_PER_MS, format_bytes
from stepscope.watch.reading import read_speed, read_speed_in

if TYPE_CHECKING:
    from pathlib import Path

    from stepscope.schema.run_folder import RunFolder


def measured_staging(run: RunFolder, target: Path) -> Staging:
    """Reads some of the files that the run's data set opened, where they lie and as copies in a folder.

    Raises:
        InputError: The files are not known or gone, or the folder cannot be written to.
    """
    paths = [path for rank in run.ranks for path in files_of(rank)]
    here = next((path for path in paths if path.is_file()), None)
    if here is not None and target.is_dir() and here.stat().st_dev == target.stat().st_dev:
        raise InputError(
            "the data set lies on this very file system already",
            path=str(target),
            way_out="name a folder on another one, for instance the node's own disk or /dev/shm",
        )
    source = read_speed(paths)
    if here is None or source is None:
        raise InputError(
            "none of the files that this run's data set opened is there to be read"
            if paths
            else "this run's recorder saw no files that the data set opened",
            path=str(run.path),
            way_out="record the run again where its data lies, with at least one loader worker",
        )
    try:
        there = read_speed_in(target, paths)
    except OSError as error:
        raise InputError(
            f"files cannot be copied there ({error.strerror})",
            path=str(target),
            way_out="name a folder that may be written to and has some hundred megabytes free",
        ) from error
    if there is None or there.copy_bytes_per_s is None:
        raise InputError("the files were gone before they could be copied", path=str(run.path))
    return Staging(
        source=str(here.parent),
        target=str(target),
        source_ns=source.alone_ns,
        target_ns=there.alone_ns,
        source_many_ns=source.many_ns,
        target_many_ns=there.many_ns,
        readers=source.readers,
        mean_bytes=source.mean_bytes,
        source_cached_frac=source.cached / source.files,
        copy_bytes_per_s=there.copy_bytes_per_s,
    )


def staging_sentence(staging: Staging) -> str:
    """Both reads in figures."""
    size = format_bytes(staging.mean_bytes)
    cached = (
        f" {staging.source_cached_frac:.0%} of the files stayed in memory although the kernel was asked to forget "
        "them, so that reading them was no read from the disk."
        if staging.source_cached_frac
        else ""
    )
    return (
        f"A measured read of the data set's files ({size} in mean): {_side(staging.source, staging.source_ns, staging)} "
        f"{_many(staging.source_many_ns, staging)}; copies in "
        f"{_side(staging.target, staging.target_ns, staging)} {_many(staging.target_many_ns, staging)}; copied at "
        f"{staging.copy_bytes_per_s / 1e6:.0f} MB/s. The kernel's memory was emptied of them before; a network file "
        f"system's server may hold files in its own.{cached}"
    )


def _side(folder: str, ns: float, staging: Staging) -> str:
    return f"{folder} {ns / NS_PER_MS:.2f} ms a file ({staging.mean_bytes / ns * 1e3:.0f} MB/s) with one reader,"


def _many(ns: float, staging: Staging) -> str:
    return f"{1e9 / ns:.0f} files and {staging.mean_bytes / ns * 1e3:.0f} MB a second with {staging.readers}"

"""Keeps the compiler from looking into wrappers."""

from __future__ import annotations

from typing import Any


def as_its_own(wrapper: Any, original: Any) -> None:
    """Have ``torch.compile`` take a wrapper for what it wraps.

    The compiler leaves many functions of PyTorch's own files alone that it would compile in files of others. A
    wrapper of ``DistributedDataParallel.forward`` in a file of ours changes what is compiled, and the last bits
    of the losses with it.
    """
    code = getattr(original, "__code__", None)
    if code is not None:
        wrapper.__code__ = wrapper.__code__.replace(co_filename=code.co_filename)

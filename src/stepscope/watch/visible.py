"""Which of the driver's devices are the job's.

Four numberings exist: CUDA's, the driver's, the kernel's device files and Slurm's. Only the UUID is the
same everywhere, so a device is counted by it.
"""

from __future__ import annotations

import re


def wanted(tokens: str | None, uuids: tuple[str, ...]) -> tuple[str, ...]:
    """UUIDs that a variable such as ``CUDA_VISIBLE_DEVICES`` leaves visible, in the variable's order.

    Numbers count the driver's order, which is that of the PCI bus; CUDA's own default order differs from
    it only where different devices are mixed. As CUDA does, what follows an invalid token is hidden. MIG
    tokens are given back as they are.

    Args:
        tokens: The variable's value; ``None`` when it is unset, and then all devices are visible.
        uuids: UUIDs in the driver's order.
    """
    if tokens is None:
        return uuids
    found: list[str] = []
    for token in (word.strip() for word in tokens.split(",")):
        one = match(token, uuids)
        if one is None:
            break
        if one not in found:
            found.append(one)
    return tuple(found)


def match(token: str, uuids: tuple[str, ...]) -> str | None:
    """The UUID that a token means: a number, a UUID or its beginning; ``None`` when it means none."""
    if token.startswith("MIG-"):
        return token
    if re.fullmatch(r"\d+", token):
        return uuids[int(token)] if int(token) < len(uuids) else None
    if not token.startswith("GPU-"):
        return None
    fitting = [uuid for uuid in uuids if uuid.startswith(token)]
    return fitting[0] if len(fitting) == 1 else None

"""Which devices a variable leaves visible."""

import pytest

from stepscope.watch.visible import wanted

UUIDS = ("GPU-aaaa-1", "GPU-aabb-2", "GPU-cccc-3")


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (None, UUIDS),
        ("", ()),
        ("0,2", (UUIDS[0], UUIDS[2])),
        ("2,0", (UUIDS[2], UUIDS[0])),
        ("1,1", (UUIDS[1],)),
        ("GPU-cccc", (UUIDS[2],)),
        ("GPU-aa", ()),
        ("0,9,1", (UUIDS[0],)),
        ("0,-1,1", (UUIDS[0],)),
        ("NoDevFiles", ()),
        ("MIG-7,0", ("MIG-7", UUIDS[0])),
    ],
)
def test_tokens(tokens, expected):
    assert wanted(tokens, UUIDS) == expected

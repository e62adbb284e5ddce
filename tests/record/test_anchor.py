import pytest

from stepscope.record.anchor import SILENCE, Anchor


def marks(anchor, keys):
    """Positions of the events that mark steps."""
    return [position for position, key in enumerate(keys) if anchor.sees(ord(key))]


@pytest.mark.parametrize(
    ("among_equals", "keys", "expected"),
    [
        ("last", "AAAA", [0, 1, 2, 3]),
        # A cycle of two is one step; the first event of all cannot know that yet.
        ("last", "ABABABAB", [0, 1, 3, 5, 7]),
        ("first", "ABABABAB", [0, 2, 4, 6]),
        ("last", "ABCABCABC", [0, 1, 2, 5, 8]),
        # The one that steps less often marks the steps ...
        ("last", "AAAABAAAABAAAAB", [0, 1, 2, 3, 4, 9, 14]),
        # ... unless it is rare.
        ("last", "A" * 40 + "B" + "A" * 3, [*range(40), 41, 42, 43]),
    ],
)
def test_one_key_marks_the_steps(among_equals, keys, expected):
    assert marks(Anchor(among_equals), keys) == expected


def test_a_key_that_falls_silent_is_given_up():
    anchor = Anchor("last")
    marks(anchor, "A" * 1000)
    found = marks(anchor, "B" * (SILENCE + 10))
    assert found == [*range(SILENCE, SILENCE + 10)]


def test_a_change_is_told_once():
    anchor = Anchor("last")
    changes = []
    for key in "ABABAB":
        anchor.sees(ord(key))
        changes.append(anchor.changed)
    assert changes == [False, True, False, False, False, False]

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.report.foreign import essential, printable, printable_lines, shorten


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("aten::mm", "aten::mm"),
        ("größer 模型", "größer 模型"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\nb\tc", r"a\x0ab\x09c"),
        ("\u202eevil", r"\u202eevil"),
        ("\u2028", r"\u2028"),
        ("\ud800", r"\ud800"),
        ("\U000e0001", r"\U000e0001"),
        ("\ue000", r"\ue000"),
        ("\x9b2J", r"\x9b2J"),
    ],
)
def test_what_does_not_print_becomes_an_escape(text, shown):
    assert printable(text) == shown


@given(st.text())
def test_the_result_always_prints(text):
    assert printable(text).isprintable()


def test_lines_stay_lines():
    assert printable_lines("a\n\tb\x1b") == "a\n    b\\x1b"


@given(st.text(max_size=80), st.integers(1, 60))
def test_a_shortened_name_fits_and_keeps_its_start(text, width):
    short = shorten(text, width)
    assert len(short) <= width
    assert short == text or short.split("…")[0] == text[: len(short.split("…")[0])]


def test_both_ends_of_a_name_are_kept():
    assert shorten("abcdefghijklmnopqrstuvwxyz", 10) == "abcdef…xyz"
    assert shorten("abcdefghijklmnopqrstuvwxyz", 10, "...") == "abcde...yz"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (
            "void at::native::(anonymous namespace)::f<at::Half, at::Half>(int)",
            "f<Half, Half>(int)",
        ),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
    ],
)
def test_the_words_that_all_kernels_share_are_left_out(name, short):
    assert essential(name) == short

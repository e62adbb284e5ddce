import pytest

from stepscope.report import palette
from stepscope.schema.report import DEVICE_PARTS, HOST_PARTS, OVERVIEW_PARTS, PATH_PARTS
from stepscope.schema.tables import DEVICE_KINDS, HOST_KINDS


def contrast(one, other):
    """The contrast ratio of WCAG 2.2."""

    def luminance(colour):
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_part_and_kind_has_a_colour_of_its_own():
    assert set(DEVICE_PARTS) | set(HOST_PARTS) == set(palette.PARTS)
    assert set(OVERVIEW_PARTS) == set(palette.OVERVIEW)
    assert set(PATH_PARTS) == set(palette.PATH)
    assert set(HOST_KINDS) | set(DEVICE_KINDS) | {"communication"} == set(palette.KINDS)
    for names in (DEVICE_PARTS, HOST_PARTS):
        assert len({palette.part(name) for name in names}) == len(names)
    assert len({palette.overview(name) for name in OVERVIEW_PARTS}) == len(OVERVIEW_PARTS)


@pytest.mark.parametrize("kind", palette.KINDS)
def test_letters_on_bars_can_be_read(kind):
    for shade in palette.shades(palette.kind(kind)):
        assert contrast(shade, palette.ink(shade)) >= 4.5


def test_an_unknown_name_is_grey():
    assert (
        palette.part("new")
        == palette.overview("new")
        == palette.path("new")
        == palette.kind("new")
        == palette.GREY
    )

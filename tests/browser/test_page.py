import time

import pytest

from tests.report import examples

expect = pytest.importorskip(
    "playwright.sync_api",
    reason="playwright is not installed, so the page is not looked at in a browser",
).expect
pytestmark = pytest.mark.slow

INK = """
() => {
  // Canvases lie in shadow roots; count the pixels that are not transparent.
  const all = [];
  const walk = (root) => {
    for (const element of root.querySelectorAll("*")) {
      if (element.tagName === "CANVAS") all.push(element);
      if (element.shadowRoot) walk(element.shadowRoot);
    }
  };
  walk(document);
  return all.filter((c) => c.offsetParent !== null && c.width && c.height).map((canvas) => {
    const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    let ink = 0;
    for (let i = 3; i < data.length; i += 4) ink += data[i] > 0;
    return ink;
  });
}
"""


def inked(page):
    """The numbers of painted pixels of the canvases that have any."""
    return [ink for ink in page.evaluate(INK) if ink > 1000]


def names(page, section):
    """The visible names of a table."""
    return page.locator(f"#{section} tbody tr:visible th").all_inner_texts()


def eventually(page, holds, seconds=30):
    """Waits until it holds: charts are drawn, and follow, some time after what asked for it."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        page.wait_for_timeout(20)


@pytest.mark.parametrize(
    ("name", "charts"),
    [
        ("input_bound", 2),
        ("with_startup", 2),
        ("healthy", 2),
        ("cpu_only", 2),
        ("nothing_recorded", 0),
        ("two_ranks", 2),
        ("many_steps", 2),
        ("hostile", 2),
        ("watched", 3),
    ],
)
def test_every_kind_of_report_opens_with_its_charts(opened, name, charts):
    page = opened(name).page
    report = examples.ALL[name]()
    expect(page.locator("h1")).to_be_visible()
    assert page.locator(".finding:visible").count() == len(report.findings)
    eventually(page, lambda: len(inked(page)) >= charts)
    assert page.locator(".chart:visible").count() == charts


def test_verdict_and_first_finding_are_on_the_first_screen(opened):
    page = opened("input_bound").page
    expect(page.locator("h1")).to_be_in_viewport(ratio=1)
    expect(page.locator(".finding h3").first).to_be_in_viewport(ratio=1)
    expect(page.locator(".where .stack")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("width", [800, 1280])
@pytest.mark.parametrize("name", ["input_bound", "hostile", "two_ranks"])
def test_the_page_never_scrolls_sideways(opened, name, width):
    page = opened(name, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_table_sorts_both_ways_by_its_headings(opened):
    page = opened("input_bound").page
    report = examples.input_bound()
    button = page.locator("#kernels").get_by_role("button", name="Sort by Calls")
    by_calls = sorted(report.kernels, key=lambda row: -row.count)
    button.click()
    assert names(page, "kernels")[:3] == [row.name for row in by_calls[:3]]
    expect(button.locator("xpath=..")).to_have_attribute("aria-sort", "descending")
    button.click()
    assert names(page, "kernels")[:3] == [row.name for row in by_calls[::-1][:3]]
    by_name = page.locator("#kernels").get_by_role("button", name="Sort by Name")
    by_name.click()
    shown = names(page, "kernels")
    assert shown == sorted(shown, key=str.lower)
    expect(button.locator("xpath=..")).to_have_attribute("aria-sort", "none")


def test_a_table_filters_by_text_and_shows_all_on_demand(opened):
    page = opened("input_bound").page
    section = page.locator("#operators")
    assert len(names(page, "operators")) == 25
    section.get_by_role("button", name="Show all 61").click()
    assert len(names(page, "operators")) == 61
    section.get_by_role("searchbox").fill("BATCH_norm")
    found = names(page, "operators")
    assert found
    assert all("batch_norm" in name for name in found)
    expect(section.get_by_role("status")).to_have_text(f"{len(found)} of 61 operators")
    section.get_by_role("searchbox").fill("no such operator")
    assert names(page, "operators") == []
    section.get_by_role("searchbox").fill("")
    assert len(names(page, "operators")) == 61


def ranges(page):
    """Start and end of the timeline that was drawn last."""
    return page.evaluate(
        "(() => { const c = shownCharts.at(-1); return [c.x_range.start, c.x_range.end]; })()"
    )


def test_the_timeline_zooms_by_button_key_and_wheel(opened):
    page = opened("input_bound").page
    whole = ranges(page)
    page.get_by_role("button", name="Zoom in").click()
    start, end = ranges(page)
    assert (end - start) == pytest.approx((whole[1] - whole[0]) / 2)
    page.get_by_role("button", name="Later").click()
    assert ranges(page)[0] > start
    page.get_by_role("button", name="Whole step").click()
    assert ranges(page) == pytest.approx(whole)
    chart = page.locator(".chart.timeline:visible")
    chart.focus()
    page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    assert ranges(page)[1] < whole[1] * 0.7
    page.keyboard.press("0")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 40)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    eventually(page, lambda: ranges(page)[1] - ranges(page)[0] < whole[1] - whole[0])


def tip(page):
    """The text of the hover that is shown, once it is."""
    return page.locator(".bk-Tooltip .tip").first.inner_text()


def hover(page, chart, x, y):
    """Move the mouse in a chart, from a place in shares of its width and pixels from its top, until it tells."""
    chart.evaluate("element => element.scrollIntoView({ block: 'center' })")
    moves = iter(range(1000))

    def tells():
        box = chart.bounding_box()
        page.mouse.move(box["x"] + box["width"] * x + 3 * (next(moves) % 2), box["y"] + y)
        return page.locator(".bk-Tooltip .tip").count() > 0

    eventually(page, tells)


def test_hovers_tell_name_value_and_share(opened):
    page = opened("input_bound").page
    hover(page, page.locator(".chart.steps:visible"), 0.6, 180)
    text = tip(page)
    assert "step 4 (far from the median)" in text
    assert "compute" in text
    assert "%" in text
    assert "whole: 199 ms" in text


def test_hostile_names_stay_text_everywhere(opened):
    seen = opened("hostile")
    page = seen.page
    assert page.locator("img").count() == 0
    assert examples.HOSTILE in page.locator("h1").inner_text()
    assert examples.HOSTILE in names(page, "kernels")
    assert any("[bold red]" in name and r"\x1b[31m" in name for name in names(page, "kernels"))
    assert examples.HOSTILE in page.title() or "</script>" in page.title()
    chart = page.locator(".chart.timeline:visible")
    hover(page, chart, 0.5, 16)
    assert examples.HOSTILE in tip(page)
    assert page.locator("img").count() == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 4
    assert seen.is_clean()


def test_another_rank_is_shown_on_demand(opened):
    page = opened("two_ranks").page
    expect(page.locator("section.rank:visible")).to_have_count(1)
    expect(page.locator("section.rank:visible h2").first).to_have_text("Steps, rank 1")
    page.get_by_label("Show below").select_option("0")
    expect(page.locator("section.rank:visible h2").first).to_have_text("Steps, rank 0")
    page.wait_for_function(
        "document.querySelectorAll('section.rank:not([hidden])[data-drawn]').length"
    )
    eventually(page, lambda: len(inked(page)) >= 2)


def test_colours_follow_the_scheme(opened):
    light = opened("input_bound").page
    dark = opened("input_bound", scheme="dark").page
    background = "getComputedStyle(document.body).backgroundColor"
    assert light.evaluate(background) != dark.evaluate(background)
    axis = "shownCharts[0].below[0].major_label_text_color"
    before = light.evaluate(axis)
    assert before != dark.evaluate(axis)
    light.emulate_media(color_scheme="dark")
    eventually(light, lambda: light.evaluate(axis) == dark.evaluate(axis))


def test_the_policy_lets_no_other_script_run(opened):
    seen = opened("input_bound")
    seen.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = 'window.bad = 1'; "
        "document.body.append(s); }"
    )
    assert seen.page.evaluate("window.bad") is None
    assert any("Content Security Policy" in error for error in seen.errors)
    seen.errors.clear()

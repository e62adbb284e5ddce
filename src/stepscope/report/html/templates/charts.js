// Charts: bokeh draws them; here they get their bars, the page's colours, names inside the bars and
// zooming by button and key.
const shownCharts = [];

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function paint(chart) {
  const text = colour("--text");
  const muted = colour("--muted");
  const grid = colour("--grid");
  chart.setv({ outline_line_color: grid });
  for (const axis of [...chart.below, ...chart.left]) {
    axis.setv({
      axis_line_color: muted,
      major_tick_line_color: axis.major_tick_line_color === null ? null : muted,
      minor_tick_line_color: axis.minor_tick_line_color === null ? null : muted,
      major_label_text_color: text,
      axis_label_text_color: muted,
      axis_label_text_font_style: "normal",
    });
  }
  for (const each of chart.renderers) {
    if (each.name === "outliers") each.glyph.setv({ fill_color: text });
  }
  for (const each of chart.center) {
    if ("grid_line_color" in each) each.setv({ grid_line_color: grid });
    if (each.name === "median") each.setv({ line_color: text });
  }
}

function shade(bars, i) {
  const shades = bars.colours.length / bars.kinds.length;
  return bars.kind[i] * shades + (bars.name[i] % shades);
}

function expand(bars) {
  const columns = { left: [], right: [], top: [], bottom: [], color: [], name: [], kind: [], length: [] };
  bars.name.forEach((name, i) => {
    columns.left.push(bars.start[i]);
    columns.right.push(bars.start[i] + bars.length[i]);
    columns.top.push(bars.row[i] + 0.06);
    columns.bottom.push(bars.row[i] + 0.94);
    columns.color.push(bars.colours[shade(bars, i)]);
    columns.name.push(bars.names[name]);
    columns.kind.push(bars.kinds[bars.kind[i]]);
    columns.length.push(bars.words[bars.text[i]]);
  });
  return columns;
}

// Names of the bars that are wide enough for some letters, cut to what fits.
function label(chart, bars, source) {
  const { start, end } = chart.x_range;
  const pixels = chart.inner_width / (end - start);
  const columns = { x: [], y: [], text: [], color: [] };
  for (let i = 0; i < bars.name.length && columns.x.length < 600; i++) {
    const left = Math.max(bars.start[i], start);
    const right = Math.min(bars.start[i] + bars.length[i], end);
    const letters = Math.floor(((right - left) * pixels - 6) / 6);
    if (letters < 3) continue;
    const name = bars.short[bars.name[i]];
    columns.x.push(left + 3 / pixels);
    columns.y.push(bars.row[i] + 0.5);
    columns.text.push(name.length > letters ? `${name.slice(0, letters - 1)}\u2026` : name);
    columns.color.push(bars.inks[shade(bars, i)]);
  }
  source.data = columns;
}

function zoom(range, how) {
  const [least, most] = range.bounds;
  const width = range.end - range.start;
  const middle = (range.start + range.end) / 2;
  const factors = { in: 0.5, out: 2, left: 1, right: 1 };
  const shifts = { in: 0, out: 0, left: -0.25, right: 0.25 };
  if (how === "all") {
    range.setv({ start: 0, end: most / 1.02 });
    return;
  }
  const half = Math.min(Math.max(width * factors[how], range.min_interval || 0), most - least) / 2;
  let centre = middle + width * shifts[how];
  centre = Math.min(Math.max(centre, least + half), most - half);
  range.setv({ start: centre - half, end: centre + half });
}

const keys = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", "0": "all" };

function initTimeline(chart, bars, place) {
  const [rows, names] = chart.renderers;
  rows.data_source.data = expand(bars);
  let asked = false;
  const relabel = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      label(chart, bars, names.data_source);
    });
  };
  chart.x_range.change.connect(relabel);
  chart.properties.inner_width.change.connect(relabel);
  relabel();
  place.addEventListener("keydown", (event) => {
    const how = keys[event.key];
    if (how === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    zoom(chart.x_range, how);
  });
  place.parentElement.querySelectorAll("[data-zoom]").forEach((button) => {
    button.addEventListener("click", () => zoom(chart.x_range, button.dataset.zoom));
  });
}

async function embed(item, place) {
  const before = Bokeh.documents.length;
  await Bokeh.embed.embed_item(item, place.id);
  const chart = Bokeh.documents[before].roots()[0];
  paint(chart);
  shownCharts.push(chart);
  return chart;
}

// Charts of a rank are made when it is first shown, one after the other.
async function drawRank(section) {
  const data = section.querySelector(".chart-data");
  if (!data || section.dataset.drawn) return;
  section.dataset.drawn = "yes";
  const charts = JSON.parse(data.textContent);
  const key = data.dataset.rank;
  if (charts.steps) await embed(charts.steps, document.getElementById(`chart-steps-${key}`));
  if (charts.timeline) {
    const place = document.getElementById(`chart-timeline-${key}`);
    initTimeline(await embed(charts.timeline, place), charts.bars, place);
  }
}

// Utilisation over the whole run, which belongs to no rank.
async function drawUse() {
  const data = document.getElementById("use-data");
  if (data) await embed(JSON.parse(data.textContent), document.getElementById("chart-use"));
}

const repaint = () => shownCharts.forEach(paint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
matchMedia("print").addEventListener("change", repaint);

// Tables that sort by their headings and filter by text. Rows are moved and hidden, never rebuilt,
// so that no foreign text is ever parsed here.
function initTable(box) {
  const table = box.querySelector("table");
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const field = box.querySelector("input");
  const count = box.querySelector(".count");
  const all = box.querySelector(".all");
  const wrap = box.querySelector(".wrap");
  const most = Number(box.dataset.rows);
  const what = count.textContent.replace(/^[\d,.]+ /, "");
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  let showsAll = rows.length <= most;

  function show() {
    const wanted = field.value.trim().toLowerCase();
    let found = 0;
    let shown = 0;
    for (const row of body.rows) {
      const matches = texts.get(row).includes(wanted);
      found += matches;
      const visible = matches && (showsAll || shown < most);
      shown += visible;
      row.hidden = !visible;
    }
    const of = found < rows.length ? `${found} of ${rows.length}` : `${rows.length}`;
    count.textContent = shown < found ? `${of} ${what}, the first ${shown} shown` : `${of} ${what}`;
    all.hidden = showsAll || found <= most;
    all.textContent = `Show all ${found}`;
  }

  function value(row, column, isText) {
    const cell = row.cells[column];
    if (isText) return cell.textContent.trim().toLowerCase();
    const text = cell.dataset.v;
    return text === undefined || text === "" ? null : Number(text);
  }

  function sort(header, column) {
    const isText = header.querySelector("button").dataset.sort === "text";
    const before = header.getAttribute("aria-sort");
    // Names start with A, numbers with the largest; a second press turns the order round.
    const first = isText ? "ascending" : "descending";
    const other = isText ? "descending" : "ascending";
    const now = before === first ? other : first;
    for (const each of header.parentElement.cells) {
      if (each.hasAttribute("aria-sort")) each.setAttribute("aria-sort", "none");
    }
    header.setAttribute("aria-sort", now);
    const sign = now === "ascending" ? 1 : -1;
    const keyed = rows.map((row, position) => [value(row, column, isText), position, row]);
    keyed.sort((a, b) => {
      // What was not measured stands last in either order.
      if (a[0] === null || b[0] === null) return (a[0] === null) - (b[0] === null) || a[1] - b[1];
      if (a[0] < b[0]) return -sign;
      if (a[0] > b[0]) return sign;
      return a[1] - b[1];
    });
    body.append(...keyed.map((each) => each[2]));
    show();
  }

  Array.from(table.tHead.rows[0].cells).forEach((header, column) => {
    const button = header.querySelector("button");
    if (button) button.addEventListener("click", () => sort(header, column));
  });
  field.addEventListener("input", show);
  all.addEventListener("click", () => {
    showsAll = true;
    show();
  });
  if (box.querySelector(".name")) {
    wrap.addEventListener("click", () => {
      const full = box.classList.toggle("full");
      wrap.setAttribute("aria-pressed", String(full));
    });
  } else {
    wrap.hidden = true;
  }
  show();
}

document.querySelectorAll(".datatable").forEach(initTable);

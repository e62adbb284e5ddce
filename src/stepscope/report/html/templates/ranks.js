// One rank at a time; the links to sections follow the rank that is shown.
function initRanks() {
  const sections = Array.from(document.querySelectorAll("section.rank"));
  const select = document.getElementById("rank-select");

  async function show(key) {
    sections.forEach((section, position) => {
      section.hidden = position !== key;
    });
    for (const id of ["steps", "timeline", "overview"]) {
      const before = document.getElementById(id);
      const chart = sections[key].querySelector(`[data-part="${id}"]`);
      if (before) before.removeAttribute("id");
      if (chart) chart.id = id;
    }
    await drawRank(sections[key]);
  }

  if (select) select.addEventListener("change", () => show(Number(select.value)));
  return show(select ? Number(select.value) : 0);
}

initRanks().then(drawUse).then(() => document.documentElement.setAttribute("data-ready", "yes"));

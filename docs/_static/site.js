document.addEventListener("DOMContentLoaded", () => {
  // A block that scrolls sideways can be reached, and so scrolled, with the keyboard.
  for (const block of document.querySelectorAll("pre, .table-wrapper")) {
    block.tabIndex = 0;
  }
  // Two landmarks of the theme have no name that tells them apart.
  document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "Pages");
  document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
  // Captions of the contents call themselves headings without a level.
  for (const caption of document.querySelectorAll('[role="heading"]:not([aria-level])')) {
    caption.setAttribute("aria-level", "2");
  }
  // The theme's page of search results has no heading.
  const results = document.getElementById("search-results");
  if (results && !document.querySelector("h1")) {
    const heading = document.createElement("h1");
    heading.textContent = "Search";
    results.before(heading);
  }
});

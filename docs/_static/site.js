// A block that scrolls sideways can be reached, and so scrolled, with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("pre, .table-wrapper")) {
    block.tabIndex = 0;
  }
});

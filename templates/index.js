"use strict";
// Shows the rows that fit what is chosen; without this script all are shown.
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll(".group tbody tr")].map((row) => (
  { row, words: row.querySelector("th").textContent.toLowerCase() }));
const groups = [...document.querySelectorAll(".group")];
function show() {
  const chosen = [...new FormData(form)].filter(([, value]) => value);
  let count = 0;
  for (const { row, words } of rows) {
    row.hidden = !chosen.every(([name, value]) => name === "words"
      ? value.toLowerCase().split(/\s+/).every((word) => words.includes(word))
      : row.dataset[name] === value);
    count += !row.hidden;
  }
  for (const group of groups) group.hidden = !group.querySelector("tbody tr:not([hidden])");
  document.getElementById("count").textContent = `${count} ${count === 1 ? "sheet" : "sheets"}`;
}
form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
show();

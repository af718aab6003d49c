"use strict";
// Headings sort the rows of each group; a third press restores the order of the sheet.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  const groups = [...table.tBodies].map((body) => [body, [...body.rows]]);
  const heads = [...table.tHead.rows[0].cells];
  // A cell that spans several columns stands for all of them.
  const cell = (row, column) => {
    let place = 0;
    for (const one of row.cells) { place += one.colSpan; if (place > column) return one; }
  };
  const read = (row, column) => {
    const text = (cell(row, column)?.innerText ?? "").trim();
    const number = parseFloat(text.replace(/[<>≤≥ ,]/g, "").replace("−", "-"));
    return [Number.isNaN(number), number, text];
  };
  const order = (a, b) => a[0] - b[0] || (a[0] ? a[2].localeCompare(b[2]) : a[1] - b[1]);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const next = now === "ascending" ? "descending" : now === "descending" ? null : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next) head.setAttribute("aria-sort", next);
      for (const [body, rows] of groups) {
        const [fixed, free] = [rows.filter((r) => r.className === "axis"), rows.filter((r) => r.className !== "axis")];
        const sorted = next ? [...free].sort((a, b) => order(read(a, column), read(b, column))) : free;
        body.append(...fixed, ...(next === "descending" ? sorted.reverse() : sorted));
      }
    });
  });
}

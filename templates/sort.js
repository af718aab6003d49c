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
    const here = cell(row, column);
    const text = here?.querySelector("time")?.dateTime ?? (here?.innerText ?? "").trim();
    // A symbol may stand before the number, a unit or an interval behind it; a moment is no number.
    const found = /^(?:\S+ = )?[<>≤≥]? ?([−-]?[\d ,]*\.?\d+)(?!\d*-)/.exec(text);
    const number = found ? parseFloat(found[1].replace(/[ ,]/g, "").replace("−", "-")) : NaN;
    return [Number.isNaN(number), number, text];
  };
  const compare = (a, b) => (a[0] ? a[2].localeCompare(b[2]) : a[1] - b[1]);
  const sorted = (rows, column, turn) => rows.map((row) => [read(row, column), row])
    // Words, such as "no value", stay behind the numbers in both directions.
    .sort(([a], [b]) => a[0] - b[0] || turn * compare(a, b)).map(([, row]) => row);
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const next = now === "ascending" ? "descending" : now === "descending" ? null : "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      if (next) head.setAttribute("aria-sort", next);
      for (const [body, rows] of groups) {
        const [fixed, free] = [rows.filter((r) => r.className === "group"), rows.filter((r) => r.className !== "group")];
        body.append(...fixed, ...(next ? sorted(free, column, next === "descending" ? -1 : 1) : free));
      }
    });
  });
}

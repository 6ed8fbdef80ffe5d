"use strict";
const words = new Intl.Collator(undefined, { numeric: true });
const make = (name, facts) => Object.assign(document.createElement(name), facts);

function exact(cell, kind) {
  const value = cell.dataset.value;
  if (value === undefined || kind === "text" || kind === "tone") return value;
  return /^-?\d+$/.test(value) ? BigInt(value) : Number(value);
}

function compare(a, b) {
  if (typeof a === "string") return words.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

for (const table of document.querySelectorAll("table[data-table]")) {
  const place = table.parentElement, body = table.tBodies[0];
  const rows = [...body.querySelectorAll("tr:not(.none)")];
  const heads = [...table.tHead.rows[0].cells];
  const tools = make("div", { className: "tools" });
  const hint = make("span", { className: "hint", hidden: true,
    textContent: "Wider than the page: scroll it sideways \u2192" });
  const look = () => { hint.hidden = place.scrollWidth <= place.clientWidth; };
  place.before(tools);
  if (rows.length > 1) {
    const input = make("input", { type: "search", placeholder: "Filter rows",
      spellcheck: false, ariaLabel: `Filter rows of ${table.dataset.table}` });
    const count = make("output");
    const texts = rows.map(row =>
      [...row.cells].map(cell => cell.textContent).join("\n").toLowerCase());
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row, at) => {
        row.hidden = !texts[at].includes(wanted);
        shown += !row.hidden;
      });
      count.textContent = wanted ? `${shown} of ${rows.length} rows` : "";
      look();
    });
    tools.append(input, count);
    for (const [column, head] of heads.entries()) {
      // Use a span with the role of a button: with a <button> element, Chromium does not
      // repeat the column titles on every printed page.
      const button = make("span", { role: "button", tabIndex: 0,
        textContent: head.textContent });
      head.replaceChildren(button);
      button.addEventListener("keydown", event => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        button.click();
      });
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const next = !now ? "ascending" : now === "ascending" ? "descending" : null;
        for (const each of heads) each.removeAttribute("aria-sort");
        let order = rows;
        if (next) {
          head.setAttribute("aria-sort", next);
          const sign = next === "ascending" ? 1 : -1;
          const keyed = rows.map(row =>
            [exact(row.cells[column], head.dataset.kind), row]);
          keyed.sort(([a], [b]) => a === undefined || b === undefined
            ? (a === undefined) - (b === undefined) : sign * compare(a, b));
          order = keyed.map(([, row]) => row);
        }
        body.append(...order);
      });
    }
  }
  tools.append(hint);
  new ResizeObserver(look).observe(place);
}

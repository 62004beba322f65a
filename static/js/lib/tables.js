// Tables: a head that stays in sight, and a choice of columns where there are many, kept in this browser.
import { read, write } from "./stored.js";

const prepared = new WeakSet();
const sizes = new ResizeObserver((entries) => { for (const { target } of entries) fit(target); });

// A table that is not too wide lets the page scroll, so its head sticks to the top of the window; others scroll themselves.
function fit(wrap) {
  const fits = wrap.firstElementChild.offsetWidth <= wrap.clientWidth + 1;
  wrap.classList.toggle("fits", fits);
  wrap.classList.toggle("scrolls", !fits);
  fade(wrap);
}

// It fades at a side where it goes on.
function fade(wrap) {
  const left = Math.abs(wrap.scrollLeft); // negative where one reads from right to left
  wrap.classList.toggle("more-before", left > 2);
  wrap.classList.toggle("more-after", wrap.scrollWidth - wrap.clientWidth - left > 2);
}

function nameOf(heading) {
  const copy = heading.cloneNode(true);
  for (const note of copy.querySelectorAll(".cell-note")) note.remove();
  return copy.textContent.trim().replace(/\s+/g, " ");
}

function columnOf(cell) {
  let column = 0;
  for (let before = cell.previousElementSibling; before; before = before.previousElementSibling) column += before.colSpan;
  return column;
}

function show(table, names, hidden) {
  for (const row of table.rows) {
    for (const cell of row.cells) {
      if (cell.colSpan === 1) cell.hidden = hidden.includes(names[columnOf(cell)]);
    }
  }
}

function choiceOf(wrap) {
  const table = wrap.firstElementChild;
  const names = [...table.tHead.rows[0].cells].map(nameOf);
  const key = `columns:${wrap.dataset.columns}`;
  let hidden = JSON.parse(read(key, "[]"));
  const choice = document.createElement("details");
  choice.className = "column-choice";
  choice.id = `columns-${[...document.querySelectorAll("[data-columns]")].indexOf(wrap)}`; // so that a renewed part keeps it open
  const summary = document.createElement("summary");
  const list = document.createElement("fieldset");
  list.setAttribute("aria-label", "Columns shown");
  const tell = () => {
    const gone = names.filter((name) => hidden.includes(name)).length;
    summary.textContent = gone ? `Columns (${gone} hidden)` : "Columns";
  };
  for (const name of names.slice(1).filter(Boolean)) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !hidden.includes(name);
    box.addEventListener("change", () => {
      hidden = hidden.filter((other) => other !== name).concat(box.checked ? [] : [name]);
      write(key, JSON.stringify(hidden));
      show(table, names, hidden);
      tell();
      fit(wrap);
    });
    label.append(box, ` ${name}`);
    list.append(label);
  }
  choice.append(summary, list);
  wrap.before(choice);
  show(table, names, hidden);
  tell();
}

function prepare() {
  for (const wrap of document.querySelectorAll(".table-wrap")) {
    if (prepared.has(wrap)) continue;
    prepared.add(wrap);
    if (wrap.dataset.columns) choiceOf(wrap);
    sizes.observe(wrap);
    wrap.addEventListener("scroll", () => fade(wrap), { passive: true });
  }
}
prepare();
new MutationObserver(prepare).observe(document.body, { childList: true, subtree: true });

// What this module added to a part of a page, taken away, so that the part can be compared with that of the server.
export function withoutChoices(part) {
  for (const choice of part.querySelectorAll(".column-choice")) choice.remove();
  for (const cell of part.querySelectorAll("th[hidden], td[hidden]")) cell.removeAttribute("hidden");
  for (const wrap of part.querySelectorAll(".table-wrap")) wrap.classList.remove("fits", "scrolls", "more-before", "more-after");
}

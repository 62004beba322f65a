// Tables that sort by a click on a column's heading: numbers by size, undefined ones last, text by name. If the text of a
// cell is not a plain number, such as a time in hours and minutes, data-sort holds the number.
function valueOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.sort ?? cell.textContent.trim();
  const number = Number.parseFloat(text.replaceAll(",", "").replace("−", "-").replace("< ", ""));
  return { text, number: Number.isNaN(number) ? null : number };
}

function sort(table, column, ascending) {
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, ...valueOf(row, column) }));
  const numeric = rows.some((one) => one.number !== null) && table.tHead.rows[0].cells[column].classList.contains("number");
  rows.sort((one, other) => {
    if (!numeric) return (ascending ? 1 : -1) * one.text.localeCompare(other.text);
    if (one.number === null || other.number === null) return (one.number === null) - (other.number === null);
    return (ascending ? 1 : -1) * (one.number - other.number);
  });
  body.append(...rows.map((one) => one.row));
}

// Which column a table is sorted by, or null; and the same again on a table that took its place.
export function sortOf(table) {
  const cells = [...(table.tHead?.rows[0].cells ?? [])];
  const column = cells.findIndex((cell) => cell.hasAttribute("aria-sort"));
  return column < 0 ? null : { column, ascending: cells[column].getAttribute("aria-sort") === "ascending" };
}

export function sortAs(table, order) {
  const cell = order && table.tHead?.rows[0].cells[order.column];
  if (!cell) return;
  for (const other of cell.parentElement.cells) other.removeAttribute("aria-sort");
  cell.setAttribute("aria-sort", order.ascending ? "ascending" : "descending");
  sort(table, order.column, order.ascending);
}

export function makeSortable(table, place) {
  if (table.dataset.sorts || !table.tHead || table.tBodies[0].rows.length < 2) return;
  table.dataset.sorts = "yes";
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    if (!cell.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.id = `sort-${place}-${column}`; // so that the focus comes back to it after an update
    button.className = "sort";
    button.append(...cell.childNodes);
    cell.append(button);
    button.addEventListener("click", () => {
      const now = sortOf(table);
      const again = now?.column === column;
      sortAs(table, { column, ascending: again ? !now.ascending : !cell.classList.contains("number") });
    });
  });
}

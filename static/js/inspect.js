// Point at a candidate, or reach it with Tab: the other systems show where they put the same one.
const marked = () => document.querySelectorAll(".same-entity");

function mark(event) {
  const entity = event.target.closest("[data-entity]")?.dataset.entity;
  marked().forEach((cell) => cell.classList.remove("same-entity"));
  if (entity === undefined) return;
  document.querySelectorAll(`[data-entity="${CSS.escape(entity)}"]`)
    .forEach((cell) => cell.classList.add("same-entity"));
}

document.addEventListener("pointerover", mark);
document.addEventListener("focusin", mark);

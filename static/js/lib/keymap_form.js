// The fields in which a person chooses keys (account page): one for each act, with its usual letter.

import { pressed } from "./keys.js";
import { choose, isFree, ownOf, reset } from "./keymap.js";
import { message, show, showProblem } from "./messages.js";

export function bindKeymap(root) {
  const fields = [...root.querySelectorAll("[data-usual]")];
  const problem = root.querySelector("[data-problem]");
  const told = root.querySelector("[data-keymap-saved]");
  const { digit, taken, kept, back, off } = root.dataset;

  function draw() {
    for (const field of fields) field.value = ownOf(field.dataset.usual).toUpperCase();
  }

  function refuse(field, refused) {
    show(told, null);
    for (const other of fields) other.removeAttribute("aria-invalid");
    showProblem(problem, refused, refused ? field : null);
  }

  function take(field, key) {
    const other = fields.find((one) => one !== field && ownOf(one.dataset.usual) === key);
    if (!isFree(key)) return refuse(field, message("no-key", digit));
    if (other) return refuse(field, message("taken", taken.replace("{key}", key.toUpperCase()).replace("{act}", other.dataset.act)));
    refuse(field, null);
    show(told, choose(field.dataset.usual, key) ? message("saved", kept) : message("storage-off", off));
    draw();
  }

  for (const field of fields) {
    field.addEventListener("focus", () => field.select());
    field.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.key.length > 1) return;
      event.preventDefault();
      take(field, pressed(event));
    });
    field.addEventListener("input", draw); // what was pasted or deleted
  }
  root.querySelector("[data-reset]").addEventListener("click", () => {
    reset();
    refuse(fields[0], null);
    show(told, message("reset", back));
    draw();
  });
  draw();
}

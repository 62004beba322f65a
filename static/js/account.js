// What this browser keeps: closed lists, each with what holds where nothing was chosen. theme.js keeps the theme.

import { goal, setGoal } from "./lib/goal.js";
import { bindKeymap } from "./lib/keymap_form.js";
import { message, show } from "./lib/messages.js";
import { read, write } from "./lib/stored.js";
import { gettext } from "./lib/words.js";

const KEPT = {
  view: { stored: "triplepool:view", values: ["one", "group"], usual: "one" },
  keys: { stored: "triplepool:keys", values: ["on", "off"], usual: "on" },
  pace: { stored: "triplepool:pace", values: ["300", "600", "1000"], usual: "300" },
};

const SAVED = message("saved", gettext("Saved in this browser."));
const OFF = message("storage-off", gettext("This browser keeps nothing: its storage is off."));
const told = document.querySelector("[data-saved]");

for (const [name, { stored, values, usual }] of Object.entries(KEPT)) {
  const found = read(stored, usual);
  const chosen = values.includes(found) ? found : usual;
  for (const input of document.querySelectorAll(`[data-settings] input[name="${name}"]`)) {
    input.checked = input.value === chosen;
    input.addEventListener("change", () => {
      show(told, write(stored, input.value) ? SAVED : OFF);
    });
  }
}

const goalField = document.querySelector("[data-goal]");
if (goalField) {
  goalField.value = goal() ?? "";
  goalField.addEventListener("change", () => {
    if (!goalField.checkValidity()) return show(told, message("no-number", goalField.dataset.wrong));
    show(told, setGoal(goalField.value) ? SAVED : OFF);
  });
}

const keymap = document.querySelector("[data-keymap]");
if (keymap) bindKeymap(keymap);

// Single-letter keys: off inside text fields and open dialogs, with modifiers, on repeat, and when the person
// switched them off. Arrows and Escape are no letters: they stay.

import { usualOf } from "./keymap.js";
import { read, write } from "./stored.js";

const STORED = "triplepool:keys";
const PRESSED = "button, a[href], summary"; // Enter presses these themselves
const TEXT = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable]';
const PAD = { 1: "y", 0: "n" };

export function keysAreOn() {
  return read(STORED) !== "off";
}

export function switchKeys(on) {
  write(STORED, on ? "on" : "off");
}

// What was pressed, in lower case: a letter by its place on a keyboard without Latin letters.
export function pressed(event) {
  const key = event.key.toLowerCase();
  const place = /^Key([A-Z])$/.exec(event.code)?.[1].toLowerCase();
  return key.length === 1 && key > "\u024f" && place ? place : key;
}

// The key by its name here: its usual letter, also for 1 and 0 on the number pad, and a digit where the keyboard has
// it without Shift.
function nameOf(event) {
  const pad = PAD[/^Numpad([01])$/.exec(event.code)?.[1]];
  const digit = event.shiftKey ? undefined : /^Digit([1-5])$/.exec(event.code)?.[1];
  return pad ?? digit ?? usualOf(pressed(event));
}

// find(name): what a key does now, or nothing; leave(field): Escape in a text field
export function bindKeys(find, leave) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]")) return;
    if (event.target instanceof Element && event.target.closest(TEXT)) {
      if (event.key === "Escape") leave(event.target);
      return;
    }
    if (event.key === "Enter" && event.target instanceof Element && event.target.closest(PRESSED)) return;
    const name = nameOf(event);
    const isLetter = name.length === 1;
    if ((isLetter && !keysAreOn()) || (event.repeat && !/^arrow(up|down)$/.test(name))) return;
    const act = find(name);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

export function bindDialogs(root = document) {
  for (const button of root.querySelectorAll("dialog [data-close]")) {
    button.addEventListener("click", () => button.closest("dialog").close());
  }
  const box = root.querySelector("[data-keys-on]");
  if (box) {
    box.checked = keysAreOn();
    box.addEventListener("change", () => switchKeys(box.checked));
  }
}

// The person's own keys. Everywhere else a key is known by its usual letter: what is pressed becomes that letter here,
// and a key cap shows the own one.

import { read, remove, write } from "./stored.js";

const STORED = `triplepool:keymap:${document.body.dataset.person ?? ""}`;

let own = load(); // usual letter: own key

function load() {
  try {
    const found = Object.entries(JSON.parse(read(STORED, "{}")) ?? {});
    return new Map(found.filter(([usual, key]) => usual.length === 1 && isFree(key)));
  } catch {
    return new Map();
  }
}

// Digits stay as they are: they open searches, and on the number pad they answer.
export function isFree(key) {
  return typeof key === "string" && [...key].length === 1 && /[^\s\d\p{C}]/u.test(key);
}

export function ownOf(usual) {
  return own.get(usual) ?? usual;
}

// The usual letter of the act that a pressed key stands for; "" if it has no act any more.
export function usualOf(key) {
  for (const [usual, chosen] of own) if (chosen === key) return usual;
  return own.has(key) ? "" : key;
}

export function keyCap(usual) {
  return ownOf(usual).toUpperCase();
}

// Whether it is kept.
export function choose(usual, key) {
  own.set(usual, key);
  for (const [name, chosen] of own) if (name === chosen) own.delete(name);
  return write(STORED, JSON.stringify(Object.fromEntries(own)));
}

export function reset() {
  own.clear();
  remove(STORED);
}

// Show the own keys on the key caps of a page, which are written with the usual ones.
export function showKeys(root = document) {
  for (const cap of root.querySelectorAll(".kbd")) {
    cap.dataset.usual ??= cap.textContent.trim().toLowerCase();
    if (cap.dataset.usual.length === 1) cap.textContent = keyCap(cap.dataset.usual);
  }
}

addEventListener("storage", (event) => {
  if (event.key !== STORED && event.key !== null) return;
  own = load();
  showKeys();
});

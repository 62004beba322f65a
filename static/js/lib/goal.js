// The person's goal of the day, in labels: their own, kept in this browser; null for none.

import { read, remove, write } from "./stored.js";

const STORED = `triplepool:goal:${document.body.dataset.person ?? ""}`;
const MOST = 10000;

export function goal() {
  const chosen = Number(read(STORED));
  return Number.isInteger(chosen) && chosen > 0 && chosen <= MOST ? chosen : null;
}

// Whether it is kept; an empty text is no goal.
export function setGoal(text) {
  if (text) return write(STORED, text);
  remove(STORED);
  return true;
}

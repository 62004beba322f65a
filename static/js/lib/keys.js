// Single-letter keys: off inside text fields and open dialogs, with modifiers, and when the person switched them off.

const STORED = "triplepool:keys";
const TEXT = 'input:not([type="radio"], [type="checkbox"], [type="button"]), textarea, select, [contenteditable]';

export function keysAreOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

export function switchKeys(on) {
  try {
    localStorage.setItem(STORED, on ? "on" : "off");
  } catch { /* then they are on, as by default */ }
}

// acts: {y: () => …}; a held-down key counts once
export function bindKeys(acts) {
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
    const inText = event.target instanceof Element && event.target.closest(TEXT);
    if (inText) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const act = acts[event.key.toLowerCase()];
    if (!act || !keysAreOn() || document.querySelector("dialog[open]")) return;
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

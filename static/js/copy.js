// A button that copies the link beside it. Without this script the link can be selected.

import { message, show } from "./lib/messages.js";

const COPIED = message("copied", "Copied");
const SELECTED = message("selected", "Selected: copy it with Ctrl+C");

for (const button of document.querySelectorAll("[data-copy]")) {
  const box = button.parentElement.querySelector("[data-copy-from]");
  const told = button.parentElement.querySelector("[data-copied]");
  box.addEventListener("focus", () => box.select());
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(box.value);
      show(told, COPIED);
    } catch { // only pages of https and this machine may write there
      box.focus();
      show(told, SELECTED);
    }
  });
}

// The answer bar: always at the same place, whatever is above it. A press that comes too fast makes it blink.

import { message } from "./messages.js";
import { gettext } from "./words.js";

const TOO_FAST = message("too-fast", gettext("Too fast: this statement had just come, so nothing was answered. Press again."));
const BLINK_MS = 600;

export class AnswerBar {
  // press(answer): what a button does
  constructor(root, press) {
    this.root = root;
    this.buttons = [...root.querySelectorAll("[data-answer]")];
    for (const button of this.buttons) button.addEventListener("click", () => press(button.dataset.answer));
  }

  // Which answer was given before to what is shown, or "".
  mark(answer) {
    for (const button of this.buttons) button.setAttribute("aria-pressed", String(button.dataset.answer === answer));
  }

  enable(is) {
    for (const button of this.root.querySelectorAll("[data-answer], [data-cause]")) button.disabled = !is;
  }

  tooFast(say) {
    say(TOO_FAST);
    this.root.classList.remove("too-fast");
    void this.root.offsetWidth; // so that a second blink begins anew
    this.root.classList.add("too-fast");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.root.classList.remove("too-fast"), BLINK_MS);
  }
}

// The dialog that reports a question. Reporting answers nothing: the question stays.

import { message, showProblem } from "./messages.js";
import { gettext } from "./words.js";

const NO_KIND = message("no-kind", gettext("Choose what is wrong."));
const NO_TEXT = message("no-text", gettext("Say in a sentence what is wrong."));

export class FlagDialog {
  constructor(dialog, send) {
    this.dialog = dialog;
    this.form = dialog.querySelector("form");
    this.text = dialog.querySelector("textarea");
    this.error = dialog.querySelector(".field-error");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(send);
    });
    this.form.addEventListener("input", () => this.say(null));
  }

  open(row) {
    if (this.row !== row) this.form.reset(); // what was typed for another question
    this.row = row;
    this.say(null);
    this.dialog.querySelector("[data-flag-question]").textContent = row.item.question;
    this.dialog.showModal();
  }

  submit(send) {
    const kind = new FormData(this.form).get("kind");
    const text = this.text.value.trim();
    if (!kind) return this.say(NO_KIND);
    if (kind === "other" && !text) {
      this.text.focus();
      return this.say(NO_TEXT);
    }
    this.dialog.close();
    this.form.reset();
    send(this.row, kind, text);
  }

  say(problem) {
    showProblem(this.error, problem);
    if (problem && this.text === document.activeElement) this.text.setAttribute("aria-invalid", "true");
    else this.text.removeAttribute("aria-invalid");
  }
}

// The annotation page: the same work one by one or by question.

import { message, showProblem } from "./lib/messages.js";
import { One } from "./lib/one.js";
import { Page } from "./lib/page.js";
import { Rows } from "./lib/rows.js";
import { read, write } from "./lib/stored.js";
import { gettext } from "./lib/words.js";

const VIEW = "triplepool:view";
const NO_REASON = message("no-reason", gettext("Say in a few words why you can’t tell."));
const why = document.getElementById("why");
const problem = document.getElementById("why-error");
const labels = { comment: document.querySelector("[data-comment-label]"), why: document.querySelector("[data-why-label]") };
const page = new Page();
let isAsked = false; // whether "can't tell" waits for its reason

function ask(is) {
  isAsked = is;
  labels.why.hidden = !is;
  labels.comment.hidden = is;
  showProblem(problem, null, why);
}

const one = new One(page, {
  shown(item, comment) {
    ask(false);
    why.value = comment;
  },
  // can't tell says why first
  check(answer) {
    if (answer !== "?" || (isAsked && why.value.trim())) return true;
    const wasAsked = isAsked;
    ask(true);
    if (wasAsked) showProblem(problem, NO_REASON, why);
    one.fold.focus(why);
    return false;
  },
  comment: () => why.value.trim(),
  value: () => why.value.trim(),
});
why.addEventListener("keydown", (event) => {
  if (event.key === "Escape") ask(false);
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  if (isAsked) one.give("?");
  else page.view.focus();
});
why.addEventListener("input", () => showProblem(problem, null, why));

const views = { one, group: new Rows(page) };
const buttons = [...document.querySelectorAll("[data-show]")];

function mark(name) {
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.show === name));
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    const name = button.dataset.show;
    mark(name);
    write(VIEW, name);
    page.switchTo(views[name]);
  });
}
const first = read(VIEW) === "group" ? "group" : "one";
mark(first);
page.start(views[first]);

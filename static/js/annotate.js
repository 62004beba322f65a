// The annotation page: the same work one by one or by question.

import { message, showProblem } from "./lib/messages.js";
import { One } from "./lib/one.js";
import { Page } from "./lib/page.js";
import { Rows } from "./lib/rows.js";
import { read, write } from "./lib/stored.js";
import { gettext } from "./lib/words.js";

const VIEW = "triplepool:view";
const NO_REASON = message("no-reason", gettext("Say in a few words why you can’t tell."));
const DROPPED = message("reason-dropped", gettext("Your reason for “Can’t tell” was dropped with that answer."));
const why = document.getElementById("why"); // for a comment, or for the reason while "can't tell" waits for one
const fields = why.closest(".evidence-fields");
const problem = document.getElementById("why-error");
const save = document.querySelector("[data-save-why]");
const labels = { comment: document.querySelector("[data-comment-label]"), why: document.querySelector("[data-why-label]") };
const cancels = labels.why.querySelector(".keys-line");
const page = new Page();
const kept = { comment: "", reason: "" }; // the one that the field does not show
let isAsked = false; // whether "can't tell" waits for its reason
let isDropped = false; // whether a reason does not go with the answer

const before = () => one.current()?.done?.given?.answer ?? "";

function ask(is) {
  if (is !== isAsked) {
    kept[isAsked ? "reason" : "comment"] = why.value;
    why.value = is ? kept.reason || kept.comment : kept.comment;
    isAsked = is;
  }
  labels.why.hidden = save.hidden = !is;
  labels.comment.hidden = is;
  why.placeholder = is ? "" : why.dataset.named;
  cancels.hidden = before() === "?"; // there Esc keeps the answer and goes on
  fields.classList.toggle("asks", is);
  page.bar.mark(is ? "?" : before());
  showProblem(problem, null, why);
}

const one = new One(page, {
  shown(item, comment, reason) {
    const isReason = before() === "?";
    isAsked = false;
    kept.reason = isReason ? comment : reason;
    why.value = isReason ? "" : comment;
    ask(Boolean(kept.reason));
  },
  // can't tell says why first
  check(answer) {
    if (answer !== "?" || (isAsked && why.value.trim())) return true;
    const wasAsked = isAsked;
    ask(true);
    if (!wasAsked) one.link.check(); // it needs no link
    if (wasAsked) showProblem(problem, NO_REASON, why);
    one.fold.focus(why);
    return false;
  },
  isAsked: () => isAsked,
  // the reason of can't tell goes with no other answer
  comment(answer) {
    const comment = isAsked ? kept.comment.trim() : why.value.trim();
    isDropped = isAsked && answer !== "?" && !["", comment].includes(why.value.trim());
    return answer === "?" ? why.value.trim() : comment;
  },
  answered: () => isDropped && page.sayToo(DROPPED),
  value: () => (isAsked ? kept.comment.trim() : why.value.trim()),
  reason: () => (isAsked ? why.value.trim() : ""),
});
one.keys.escape = () => (isAsked && !before() ? ask(false) : one.keep());
save.addEventListener("click", () => one.give("?"));
why.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && before() !== "?") ask(false);
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

// The adjudication page: two answers that differ, and the one that decides.

import { message, showProblem } from "./lib/messages.js";
import { One } from "./lib/one.js";
import { Page } from "./lib/page.js";

const WORDS = { Y: "Yes", N: "No", "?": "Can’t tell" };
const NO_REASON = message("no-reason", "An adjudicator gives a reason: write one sentence.");
const reason = document.getElementById("reason");
const error = document.getElementById("reason-error");
const page = new Page();
let given = {};

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function card(answer) {
  const box = element("article", "card", "");
  box.dataset.test = `given-${answer.answer}`;
  box.setAttribute("aria-label", `Answer ${answer.name}`);
  box.append(element("h3", "", `${answer.name}: ${WORDS[answer.answer]}`));
  if (answer.source_url.startsWith("https://")) {
    const link = element("a", "break", answer.source_url);
    link.href = answer.source_url;
    link.target = "_blank";
    link.rel = "noopener noreferrer";
    const line = element("p", "", "");
    line.append(link);
    const button = element("button", "button small", "Take this link ");
    button.type = "button";
    button.append(element("kbd", "kbd", answer.name));
    button.addEventListener("click", () => take(answer.name));
    box.append(line, button);
  } else {
    box.append(element("p", "muted", "No link."));
  }
  if (answer.passage) box.append(Object.assign(element("blockquote", "break", answer.passage), { title: "What the source says" }));
  if (answer.comment) box.append(element("p", "break comment", answer.comment));
  if (answer.quick) {
    const badge = element("p", "badge badge-attention", "answered in under two seconds");
    badge.dataset.test = "quick";
    box.append(badge);
  }
  return box;
}

function say(problem) {
  showProblem(error, problem, reason);
  if (problem) reason.focus();
}

function take(name) {
  if (given[name]?.source_url) one.link.put(given[name].source_url);
}

const one = new One(page, {
  shown(item, comment) {
    given = Object.fromEntries(item.answers.map((answer) => [answer.name, answer]));
    document.querySelector("[data-given]").replaceChildren(...item.answers.map(card));
    reason.value = comment;
    say(null);
  },
  check() {
    const missing = !reason.value.trim();
    say(missing ? NO_REASON : null);
    return !missing;
  },
  comment: () => reason.value.trim(),
  value: () => reason.value.trim(),
});
reason.addEventListener("input", () => say(null));
reason.addEventListener("keydown", (event) => event.key === "Enter" && page.view.focus());

// -- back to the pool

const dialog = document.querySelector('[data-dialog="return"]');
const cause = dialog.querySelector("textarea");
const missing = dialog.querySelector(".field-error");

function openReturn() {
  const row = one.current();
  if (!row || row.done) return;
  missing.hidden = true;
  dialog.querySelector("[data-return-question]").textContent = row.item.question;
  dialog.showModal();
}

dialog.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = cause.value.trim();
  missing.hidden = Boolean(text);
  if (!text) return cause.focus();
  dialog.close();
  cause.value = "";
  page.loop.giveBack(one.current(), text);
});

page.start(one, { keys: { a: () => take("A"), b: () => take("B"), r: openReturn }, acts: { return: openReturn } });

// The adjudication page: two answers that differ, and the one that decides.

import { startPage } from "./lib/page.js";

const WORDS = { Y: "Yes", N: "No", "?": "Can’t tell" };
const reason = document.getElementById("reason");
const error = document.getElementById("reason-error");
let given = {};

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

function card(answer) {
  const box = element("article", "card", "");
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
  if (answer.comment) box.append(element("p", "break comment", answer.comment));
  if (answer.quick) box.append(element("p", "badge badge-attention", "answered in under two seconds"));
  return box;
}

function say(problem) {
  error.textContent = problem;
  error.hidden = !problem;
  if (problem) {
    reason.setAttribute("aria-invalid", "true");
    reason.focus();
  } else reason.removeAttribute("aria-invalid");
}

function take(name) {
  if (given[name]?.source_url) loopPage.evidence.set(given[name].source_url);
}

const loopPage = startPage({
  show(item, prior) {
    given = Object.fromEntries(item.answers.map((answer) => [answer.name, answer]));
    document.querySelector("[data-given]").replaceChildren(...item.answers.map(card));
    reason.value = prior?.given.comment ?? "";
    say("");
  },
  checkAnswer() {
    const missing = !reason.value.trim();
    say(missing ? "An adjudicator gives a reason: write one sentence." : "");
    return !missing;
  },
  comment: () => reason.value.trim(),
  keys: { a: () => take("A"), b: () => take("B") },
});
reason.addEventListener("input", () => say(""));

// The adjudication page: two answers that differ, one key for the decision, one for its reason.

import { Disputes } from "./lib/disputes.js";
import { RULE, shorten } from "./lib/evidence.js";
import { givenCard, hasLink, markTaken } from "./lib/given.js";
import { keyCap } from "./lib/keymap.js";
import { warningOf } from "./lib/links.js";
import { message, show, showProblem } from "./lib/messages.js";
import { Page } from "./lib/page.js";
import { openAside } from "./lib/side.js";

const words = document.querySelector("[data-words]").dataset;
const SAID = { Y: words.yes, N: words.no, "?": words.cantTell };
const WARNED = { "search-page": words.searchPage, "front-page": words.frontPage };
const SAME = { "search-page": words.sameSearch, "front-page": words.sameFront };
const CHOOSE = message("choose-first", words.choose);
const WRITE = message("write", words.write);
const NO_REASON = message("no-reason", words.noReason);
const reason = document.getElementById("reason");
const error = document.getElementById("reason-error");
const used = document.querySelector("[data-rule]"); // whose link goes with the decision
const box = document.querySelector("[data-causes]");
const returning = document.querySelector('[data-act="return"]');
const causes = [...box.querySelectorAll("[data-cause]")];
const head = box.querySelector(".causes-head");
const oneWrong = head.textContent;
const FITS = ["source", "dated", ""]; // reasons why nobody can tell
const UNFIT = message("unfit", words.unfit);
const reopened = document.querySelector("[data-reopened]");
const page = new Page();
let given = {}; // the two answers by their names
let chosen = ""; // the answer that waits for its reason
let cause = "";
let isReasoned = false; // whether the decision may go out
let taken = { link: "", passage: "" }; // what was taken by itself from the answer that is agreed with
let quoted = taken; // the last passage that came with a link
const cards = new Map(); // name: the card of an answer

function say(problem) {
  showProblem(error, problem, reason);
  if (problem) one.fold.focus(reason);
}

// Which answer waits for its reason, or none.
function wait(answer) {
  chosen = answer;
  box.classList.toggle("causes-wanted", Boolean(answer));
  for (const button of causes) button.setAttribute("aria-disabled", String(!answer)); // pressed all the same, they say what comes first
  if (!answer) markCause(null);
  page.bar.mark(answer);
  askWhy();
}

// Whether nobody said "can't tell" before: then it blames no answer.
const isNew = () => chosen === "?" && Object.values(given).every(({ answer }) => answer !== "?");

// What is asked beside the reasons, and which of them fit; the others leave their places empty.
function askWhy() {
  head.textContent = isNew() ? words.whyUntold : areEqual() ? words.bothWrong : chosen ? oneWrong : words.then;
  for (const button of causes) button.classList.toggle("cause-unfit", isNew() && !FITS.includes(button.dataset.cause));
}

// The reason that is chosen: "" is in words, null is none.
function markCause(value) {
  for (const button of causes) button.setAttribute("aria-pressed", String(button.dataset.cause === value));
}

function open(name) {
  const link = given[name]?.source_url;
  if (!hasLink(given[name])) return;
  const blocked = openAside(link);
  if (blocked) page.say("info", blocked);
  one.link.offer("last", link, `${name}: ${shorten(link)}`);
}

// The answers that gave this link.
const thatGave = (link) => Object.values(given).filter((one) => hasLink(one) && one.source_url === link);

// Whether both answers gave the same link with the same passage: then there is one to take, and it is said once.
function areAlike() {
  const [one, other] = Object.values(given);
  return hasLink(one) && one.source_url === other?.source_url && one.passage === other.passage;
}

// What speaks against the link that both answers gave, or null.
function weakOfBoth() {
  const [{ source_url: link }] = Object.values(given);
  const weak = thatGave(link).length > 1 && warningOf(link, one.current().item.sources);
  return weak ? message(`same-${weak.name}`, SAME[weak.name]) : null;
}

// Whether both answers are the same: the item was reopened. A decision that confirms them needs no reason.
const areEqual = () => new Set(Object.values(given).map(({ answer }) => answer)).size === 1;
const confirms = (answer) => answer !== "?" && areEqual() && Object.values(given)[0].answer === answer;

// What each answer will take, or whose link the decision has: always in sight, before anything is sent.
function whose() {
  const link = one.link.value;
  if (link) {
    const from = thatGave(link);
    if (from.length > 1) return message("link-both", words.both);
    return from.length ? message("link-of", words.linkOf.replace("{name}", from[0].name)) : message("link-own", words.linkOwn);
  }
  const found = Object.values(given).filter(hasLink).sort((a, b) => "YN?".indexOf(a.answer) - "YN?".indexOf(b.answer));
  if (!found.length || chosen) return null;
  if (thatGave(found[0].source_url).length > 1) return weakOfBoth() ? null : message("same", words.same);
  const each = found.map((one) => words.wouldTake.replace("{answer}", SAID[one.answer]).replace("{name}", one.name));
  return message("would-take", each.join(" · "));
}

function tell() {
  const row = one.current();
  if (!row) return;
  const told = whose();
  if (told) show(used, told);
  else show(used, message("rule", RULE[page.config.evidence_rule]));
  const isTaken = (name) => hasLink(given[name]) && given[name].source_url === one.link.value
    && (thatGave(one.link.value).length < 2 || areAlike() || given[name].passage === one.passage.value);
  for (const [name, card] of cards) markTaken(card, isTaken(name), words);
  if (chosen && !row.done && one.link.value) sayWhy();
}

// Whether a reason was typed before the answer, so that nothing more is wanted than to save it.
const isWritten = () => !one.current()?.done && Boolean(reason.value.trim());

// The answer that waits for its reason, with whose link.
function sayWhy() {
  if (isWritten()) return page.say("info", message("written", words.written.replace("{answer}", SAID[chosen]).replace("{key}", keyCap("t"))));
  const link = one.link.value;
  const from = thatGave(link);
  const said = !link ? words.why : [words.whyOwn, words.whyOf, words.whyBoth][from.length];
  const { warning } = one.link; // what speaks against the link that goes with the decision
  const told = said.replace("{answer}", SAID[chosen]).replace("{name}", from[0]?.name ?? "");
  page.say("info", warning ? message(`why-${warning.name}`, `${told} ${WARNED[warning.name]}`) : message("why", told));
}

function take(name) {
  one.link.put(given[name].source_url);
  one.passage.value = given[name].passage;
  quoted = { link: one.link.value, passage: one.passage.value };
  tell();
}

// The source of the answer that is agreed with goes with the decision, unless there is one already.
function takeAgreed(answer) {
  const agreed = Object.values(given).find((one) => one.answer === answer && hasLink(one));
  if (one.link.value && one.link.value !== taken.link) return;
  if (one.link.value !== (agreed?.source_url ?? "")) one.link.put(agreed?.source_url ?? "");
  if (!one.passage.value || one.passage.value === taken.passage) one.passage.value = agreed?.passage ?? "";
  taken = { link: one.link.value, passage: one.passage.value };
  quoted = taken;
}

// A passage that came with another link does not go with this one.
function dropQuote() {
  if (one.passage.value === quoted.passage && one.link.value !== quoted.link) one.passage.value = "";
}

function forgetTaken() {
  if (one.link.value !== taken.link) return;
  one.link.set("");
  if (one.passage.value === taken.passage) one.passage.value = "";
  tell();
}

// The first key: an answer. It waits for the second one.
function choose(answer) {
  wait(answer);
  takeAgreed(answer);
  if (one.check(answer)) sayWhy();
  tell();
}

// The second key: a reason, or none where it is in words.
function decide(value) {
  if (!one.current()) return;
  if (page.isTooFast()) return;
  if (!chosen) return page.say("info", CHOOSE);
  if (isNew() && !FITS.includes(value)) return page.say("info", UNFIT);
  cause = value;
  page.say("info", null); // the reason is given, whatever becomes of the link
  dropQuote();
  isReasoned = true;
  one.give(chosen);
  isReasoned = false;
}

function write() {
  if (!one.current()) return;
  if (chosen && isWritten()) return decide("");
  if (chosen) {
    page.say("info", WRITE);
    markCause("");
  }
  one.fold.focus(reason);
}

const one = new Disputes(page, words, SAID, {
  shown(item, comment) {
    const { done } = one.current();
    given = Object.fromEntries(item.answers.map((answer) => [answer.name, answer]));
    cards.clear();
    for (const answer of item.answers) cards.set(answer.name, givenCard(answer, { answer: words.answer, said: SAID[answer.answer] }, { open, take }));
    document.querySelector("[data-given]").replaceChildren(...cards.values());
    if (areAlike()) [...cards.values()][1].querySelector("[data-take]").parentElement.remove();
    for (const [at, card] of [...cards.values()].entries()) {
      const weak = at ? null : weakOfBoth();
      const line = card.querySelector("[data-weak]");
      show(line, weak);
      line.hidden = !weak;
    }
    reopened.hidden = item.reopened === null;
    reopened.textContent = item.reopened ? words.reopenedFor.replace("{reason}", item.reopened) : words.reopenedOnly;
    reason.value = comment;
    quoted = taken = { link: "", passage: "" };
    say(null);
    wait(done?.given?.answer ?? "");
    returning.disabled = Boolean(done); // it is decided, and may only be decided anew
    markCause(done?.given ? done.given.cause || (comment ? "" : null) : null);
    tell();
  },
  linkChanged: tell,
  check(answer) {
    if (isReasoned) return true;
    if (confirms(answer)) {
      cause = "";
      takeAgreed(answer);
      return true;
    }
    choose(answer);
    return false;
  },
  isAsked: () => Boolean(chosen),
  comment: () => reason.value.trim(),
  value: () => reason.value.trim(),
  extra: () => ({ cause }),
  leaving: forgetTaken,
});
one.keys.escape = () => {
  if (one.current()?.done || !chosen) return one.keep();
  wait("");
  forgetTaken();
  tell();
  page.say("info", null);
};
for (const button of causes) button.addEventListener("click", () => (button.dataset.cause ? decide(button.dataset.cause) : write()));
reason.addEventListener("input", () => say(null));
reason.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  event.preventDefault();
  if (!chosen) page.view.focus();
  else if (reason.value.trim()) decide("");
  else say(NO_REASON);
});

// -- back to the pool

const dialog = document.querySelector('[data-dialog="return"]');
const why = dialog.querySelector("textarea");
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
  const text = why.value.trim();
  missing.hidden = Boolean(text);
  if (!text) return why.focus();
  dialog.close();
  why.value = "";
  page.loop.giveBack(one.current(), text);
});

const byKey = Object.fromEntries(causes.map((button) => [button.querySelector("kbd").textContent.toLowerCase(), () => button.click()]));
page.start(one, { keys: { ...byKey, a: () => open("A"), b: () => open("B"), p: openReturn }, acts: { return: openReturn } });

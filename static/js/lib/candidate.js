// One candidate of a question: its name, its answer, the link it is or will be saved with.

import { fillCard } from "./card.js";
import { fillSearches, hostsOf, searchable, shorten } from "./evidence.js";
import { showKeys } from "./keymap.js";
import { cleanLink, problemOf } from "./links.js";
import { message, show, showProblem } from "./messages.js";
import { SAID, filled, gettext } from "./words.js";

const STATE = {
  waiting: gettext("sent in a moment"),
  unsent: gettext("not saved yet"),
  saved: gettext("saved"),
  over: gettext("saved for good"),
  apart: gettext("doesn’t count"),
  refused: gettext("not saved"),
  elsewhere: gettext("answered in another tab"),
};
const OVER = message("over", gettext("This label can no longer be changed. It stays as it is."));
const NO_REASON = message("no-reason", gettext("Say in a few words why you can’t tell."));
const WHOSE = {
  own: message("own", gettext("own link")),
  question: message("question", gettext("from the question")),
  saved: message("saved-with", gettext("saved with this link")), // the question's link was changed later
};
const INNER = "button, input, a";

export class CandidateRow {
  constructor(view, row, number) {
    this.view = view;
    this.row = row;
    this.number = number;
    const { item } = row;
    this.candidate = item.side === "tail" ? item.object : item.subject;
    this.fixed = item.side === "tail" ? item.subject : item.object;
    this.root = document.querySelector("[data-row]").content.firstElementChild.cloneNode(true);
    this.find = (selector) => this.root.querySelector(selector);
    this.fill(item);
    showKeys(this.root);
    this.listen();
    this.activate(false);
    this.draw();
  }

  fill(item) {
    this.find("[data-candidate]").textContent = this.candidate.label;
    this.find("[data-key]").textContent = this.candidate.key;
    fillCard(this.find("[data-card]"), this.candidate, true);
    this.find("[data-alone]").textContent = this.candidate.label;
    this.find("[data-both]").textContent = filled(gettext("with {name}"), { name: this.fixed.label });
    this.find("[data-searches]").hidden = !searchable(item).length;
    this.fillSearches();
    this.error = this.find("[data-error]");
    this.error.id = `row-error-${item.slot}`;
    this.field = this.find("[data-own-link]");
    this.passage = this.find("[data-own-passage]");
    this.why = this.find("[data-row-why] input");
    for (const field of [this.field, this.why]) field.setAttribute("aria-describedby", this.error.id);
    for (const button of this.root.querySelectorAll("[data-give]")) button.setAttribute("aria-label", `${SAID[button.dataset.give]}: ${this.candidate.label}`);
  }

  fillSearches() {
    const { item } = this.row;
    const both = this.view.searchesBoth;
    this.find("[data-both]").setAttribute("aria-pressed", String(both));
    fillSearches(this.find("[data-links]"), item, both ? "both" : item.side === "tail" ? "object" : "subject", 5);
    for (const link of this.find("[data-links]").querySelectorAll(INNER)) link.tabIndex = this.root.tabIndex;
  }

  listen() {
    const { view } = this;
    const { slot } = this.row.item;
    this.root.addEventListener("focusin", () => view.point(slot));
    for (const button of this.root.querySelectorAll("[data-give]")) {
      button.addEventListener("click", () => (button.dataset.give === "?" ? this.openWhy() : view.give(button.dataset.give, slot)));
    }
    this.find("[data-change-link]").addEventListener("click", () => this.openLink());
    this.find("[data-both]").addEventListener("click", () => view.searchFor(!view.searchesBoth));
    this.find("[data-take-question]").addEventListener("click", () => {
      this.setLink("");
      this.close();
      this.focus();
    });
    this.field.addEventListener("input", () => this.setLink(cleanLink(this.field.value), false));
    this.passage.addEventListener("input", () => view.page.drafts.setPassage(this.row.item, this.passage.value.trim()));
    for (const field of [this.field, this.passage]) field.addEventListener("keydown", (event) => event.key === "Enter" && this.closeLink());
    for (const field of [this.field, this.passage, this.why]) field.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
    const form = this.find("[data-row-why]");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.why.value.trim()) view.give("?", slot, this.why.value.trim());
      else this.refuse(NO_REASON, this.why);
    });
    this.why.addEventListener("input", () => view.page.drafts.why.set(slot, this.why.value));
    this.find("[data-cancel]").addEventListener("click", () => {
      this.close();
      this.focus();
    });
  }

  // -- what it shows

  // Whether its answer can no longer become another one.
  get isFixed() {
    return ["over", "apart", "elsewhere"].includes(this.row.done?.state);
  }

  sayFixed() {
    this.close();
    const { state } = this.row.done;
    if (state === "over") this.refuse(OVER);
    else this.view.page.announce(message(state, `${this.candidate.label}: ${STATE[state]}.`));
  }

  name() {
    const { done, item } = this.row;
    const answer = done?.given
      ? filled(gettext("Answered {answer}, {state}."), { answer: SAID[done.given.answer], state: STATE[done.state] })
      : done ? gettext("Answered in another tab.") : gettext("Not answered yet.");
    this.root.setAttribute("aria-label", `${filled(gettext("{n} of {all}."), { n: this.number, all: this.view.rows.size })} ${item.question} ${answer}`);
  }

  draw() {
    const { done, message: problem } = this.row;
    const answer = done?.given?.answer ?? "";
    this.root.dataset.answer = answer;
    this.root.dataset.state = done?.state ?? "open";
    for (const button of this.root.querySelectorAll("[data-give]")) {
      button.setAttribute("aria-pressed", String(button.dataset.give === answer));
      button.setAttribute("aria-disabled", String(this.isFixed));
    }
    const said = answer ? `${SAID[answer]}, ` : "";
    show(this.find("[data-said]"), done ? message(`${answer} ${done.state}`.trim(), said + STATE[done.state]) : null);
    if (problem) this.say(problem);
    this.find("[data-change-link]").hidden = this.isFixed;
    this.drawLink();
    this.name();
  }

  drawLink() {
    const { done, item } = this.row;
    const { drafts, config } = this.view.page;
    const isSaved = Boolean(done?.given);
    let link = isSaved ? done.given.source_url : drafts.linkOf(item);
    if (!isSaved && !drafts.isOwn(item) && problemOf(link, "?", "never", hostsOf(item))) link = ""; // the field of the question says why
    const isOwn = isSaved ? link !== drafts.question.get(item.group) : drafts.isOwn(item);
    const whose = !isOwn ? WHOSE.question : link === drafts.own.get(item.slot) || !isSaved ? WHOSE.own : WHOSE.saved;
    this.find("[data-link]").textContent = link ? shorten(link) : config.evidence_rule === "never" || done ? "" : gettext("no link yet");
    show(this.find("[data-whose]"), link ? whose : null);
    const act = isOwn && link ? gettext("Change link") : gettext("Own link");
    this.find("[data-change-link]").textContent = act;
    this.find("[data-change-link]").setAttribute("aria-label", `${act}: ${this.candidate.label}`);
    if (document.activeElement !== this.field) this.field.value = drafts.own.get(item.slot) ?? "";
  }

  // Whether it is the row that keys are about; only its controls are in the order of Tab.
  activate(is) {
    this.root.classList.toggle("candidate-at", is);
    this.root.tabIndex = is ? 0 : -1;
    for (const inner of this.root.querySelectorAll(INNER)) inner.tabIndex = is ? 0 : -1;
    if (!is && this.isLinkOpen && !this.field.value) this.close();
  }

  focus() {
    this.root.focus({ preventScroll: true });
    this.root.scrollIntoView({ block: "nearest" });
  }

  refuse(problem, field = null) {
    this.say(problem);
    (field ?? this.root).focus();
    this.root.scrollIntoView({ block: "nearest" });
    this.error.scrollIntoView({ block: "nearest" }); // a row that is taller than its place has it below the edge
    this.view.page.announce(problem);
  }

  say(problem) {
    showProblem(this.error, problem);
  }

  // -- its own link, and why one can't tell

  get isLinkOpen() {
    return !this.find("[data-row-link]").hidden;
  }

  get isAsking() {
    return !this.find("[data-row-why]").hidden;
  }

  openLink() {
    this.close();
    this.find("[data-row-link]").hidden = false;
    const { drafts } = this.view.page;
    this.field.value = drafts.own.get(this.row.item.slot) ?? "";
    this.passage.value = drafts.passageOf(this.row.item);
    this.field.focus();
  }

  // isWhole: it was not typed, so the field may be changed
  setLink(link, isWhole = true) {
    this.view.page.drafts.setOwn(this.row.item, link);
    if (isWhole && this.field.value !== link) this.field.value = link;
    this.linkChanged();
  }

  closeLink() {
    const link = cleanLink(this.field.value);
    this.setLink(link);
    const problem = link ? problemOf(link, "?", "never", hostsOf(this.row.item)) : null;
    if (problem) return this.refuse(problem, this.field);
    this.close();
    this.focus();
    this.view.finish();
  }

  linkChanged() {
    this.row.message = null;
    this.say(null);
    this.drawLink();
  }

  // with its reason where there is one; isTyped: the person asked for the field
  openWhy(isTyped = true) {
    if (this.isFixed) return this.sayFixed();
    this.close();
    this.find("[data-row-why]").hidden = false;
    this.view.markBar();
    const { done, item } = this.row;
    this.why.value = done?.given?.answer === "?" ? done.given.comment : this.view.page.drafts.why.get(item.slot) ?? "";
    if (isTyped) this.why.focus();
    this.find("[data-row-why]").scrollIntoView({ block: "nearest" }); // the button below the field too
  }

  close() {
    this.find("[data-row-link]").hidden = true;
    this.find("[data-row-why]").hidden = true;
    this.view.markBar();
    this.say(null);
  }
}

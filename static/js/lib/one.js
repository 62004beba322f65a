// One question at a time: the whole of the adjudication page, one of two views of the annotation page.

import { fillCard } from "./card.js";
import { fillSearches, hostsOf, RULE } from "./evidence.js";
import { Fold } from "./fold.js";
import { LinkField, thenAnswer, thenEnter } from "./link_field.js";
import { problemOf } from "./links.js";
import { message } from "./messages.js";
import { SAID, filled, gettext } from "./words.js";

const LONG = 140; // characters of a question in smaller type

const ELSEWHERE = message("elsewhere", gettext("You answered that statement in another tab."));
const changing = (answer) => message("changing", filled(gettext("Reopened: your answer {answer} counts until you give another."), { answer: SAID[answer] }));
const keptAnswer = (answer) => message("kept", filled(gettext("Kept: {answer}. This is another statement."), { answer: SAID[answer] }));

export class One {
  // more: {shown(item, comment, reason), check(answer), isAsked(), comment(answer), answered(), value(), reason(), extra(), linkChanged()} of the page;
  // isAsked: whether an answer waits for its reason
  constructor(page, more) {
    this.page = page;
    this.loop = page.loop;
    this.more = more;
    this.row = null;
    this.waits = ""; // the answer that waits for a link
    this.root = document.querySelector('[data-view="one"]');
    this.find = (selector) => this.root.querySelector(selector);
    this.question = this.find("[data-question]");
    this.top = this.question.closest(".zone");
    this.link = new LinkField(this.find(".link-field"), () => this.row?.item, () => this.more.linkChanged?.(), (told) => page.say("info", told));
    this.passage = this.find("#passage");
    this.fold = new Fold(this.root);
    this.choices = [...this.root.querySelectorAll("[name=search-for]")];
    for (const choice of this.choices) choice.addEventListener("change", () => this.fillSearches());
    for (const field of [this.link.field, this.passage]) field.addEventListener("keydown", (event) => event.key === "Enter" && !event.isComposing && this.leaveField());
    this.keys = {
      y: () => this.give("Y"), n: () => this.give("N"), s: () => this.give("?"),
      l: () => this.link.take("last"), c: () => this.link.take("copied"), enter: () => this.finish(), escape: () => this.keep(),
    };
  }

  // -- the view

  enter(slot) {
    this.root.hidden = false;
    const row = this.loop.rows.get(slot);
    if (row && !row.done) this.show(row);
    else this.next();
  }

  leave() {
    this.keepDraft();
    this.root.hidden = true;
    const slot = this.row?.item.slot ?? null;
    this.row = null;
    return slot;
  }

  // What the loop has may have changed: the question on the screen may be gone or answered in another tab.
  refresh() {
    const { row } = this;
    if (!row) return void (this.loop.open().length && this.next());
    if (!this.loop.rows.has(row.item.slot)) this.next();
    else if (row.done?.state === "elsewhere") {
      this.page.say("info", ELSEWHERE);
      this.next();
    } else if (row.done?.state === "apart") this.next();
  }

  current() {
    return this.row;
  }

  stop() {
    this.keepDraft();
    this.row = null;
  }

  get isEmpty() {
    return this.row === null;
  }

  shownSlots() {
    return this.row ? [this.row.item.slot] : [];
  }

  focus() {
    this.question.focus();
  }

  leaveField() {
    if (this.link.stays(this.link.check())) return;
    this.focus();
    if (!this.link.value) return;
    if (this.waits && this.link.warning) this.page.say("info", thenEnter(SAID[this.waits]));
    else if (!this.finish()) this.page.say("info", thenAnswer());
  }

  back(row) {
    this.keepDraft();
    this.show(row);
  }

  paste(link) {
    if (this.link.stays(this.link.put(link))) return;
    this.question.focus(); // out of the field, so that the answer keys work
    if (this.waits) this.page.say("info", thenEnter(SAID[this.waits]));
    else if (!this.more.isAsked()) this.page.sayFirst(thenAnswer());
  }

  // -- questions

  next() {
    const row = this.loop.next(this.row?.item.group);
    if (row) return this.show(row);
    this.row = null;
    this.root.setAttribute("aria-busy", "true"); // the old question stays until the next one comes
    this.loop.ask();
  }

  show(row) {
    this.row = row;
    this.waits = "";
    const { item } = row;
    const { drafts, config } = this.page;
    this.root.removeAttribute("aria-busy");
    const text = { group: item.group_question, subject: item.subject.label, object: item.object.label };
    for (const [name, words] of Object.entries(text)) this.find(`[data-${name}]`).textContent = words;
    for (const name of ["subject", "object"]) this.find(`[data-${name}]`).title = text[name]; // it may be cut
    for (const side of ["subject", "object"]) fillCard(this.find(`[data-${side}-card]`), item[side], true);
    this.question.textContent = item.question;
    this.question.classList.toggle("question-long", item.question.length > LONG);
    this.find("[data-rule]").textContent = RULE[config.evidence_rule];
    this.link.set(row.done ? row.done.given.source_url : drafts.unsentLinkOf(item));
    this.passage.value = row.done ? row.done.given.passage : drafts.unsentPassageOf(item);
    this.link.offer("last", drafts.lastOf(item.group));
    this.link.offer("copied", "");
    this.fillSearches();
    this.page.bar.mark(row.done?.given.answer ?? "");
    if (row.done) this.page.say("info", changing(row.done.given.answer));
    else this.page.forget("changing");
    this.more.shown(item, row.done ? row.done.given.comment : drafts.comments.get(item.slot) ?? "", row.done ? "" : drafts.why.get(item.slot) ?? "");
    this.page.clock.restart();
    this.page.appeared();
    this.top.scrollTop = this.find(".zone-evidence").scrollTop = 0;
    this.question.focus();
  }

  fillSearches() {
    const what = this.choices.find((choice) => choice.checked)?.value ?? "both";
    fillSearches(this.find("[data-searches]"), this.row.item, what, 8, 5);
  }

  searches() {
    return this.find("[data-searches]").querySelectorAll("a");
  }

  // An address was copied since this page was left.
  copied(link) {
    if (this.row && !problemOf(link, "?", "never", hostsOf(this.row.item))) this.link.offer("copied", link);
  }

  // -- answers

  press(answer) {
    this.give(answer);
  }

  give(answer) {
    const { row, page } = this;
    if (!row) return;
    if (page.isTooFast()) return;
    if (!this.more.check(answer) || !this.check(answer)) return;
    const given = { answer, source_url: this.link.value, passage: this.passage.value.trim(), comment: this.more.comment(answer), ...this.more.extra?.(), ...page.clock.lap() };
    this.loop.answer(row, given);
    this.next();
    this.more.answered?.();
  }

  check(answer) {
    const problem = problemOf(this.link.value, answer, this.page.config.evidence_rule, hostsOf(this.row.item));
    if (problem) {
      this.waits = problem.name === "no-link" ? answer : "";
      if (this.waits) this.page.bar.mark(answer);
      this.link.say(problem);
      this.fold.focus(this.link.field);
    }
    return !problem;
  }

  // The answer that waited for a link, once there is one; whether it did.
  finish() {
    const { waits } = this;
    if (!waits || !this.link.value) return false;
    this.give(waits);
    return true;
  }

  undo() {
    const row = this.loop.lastAnswered(this.row?.done ? this.row.item.slot : null);
    if (!row) return this.page.sayNoUndo();
    this.keepDraft();
    this.show(row);
  }

  // Back from an undo without a change.
  keep() {
    if (!this.row?.done) return;
    const { answer } = this.row.done.given;
    this.row = null;
    this.next();
    if (this.row) this.page.say("info", keptAnswer(answer));
  }

  keepDraft() {
    if (!this.row || this.row.done) return;
    this.page.drafts.setOwn(this.row.item, this.link.value);
    if (this.link.value || this.passage.value.trim()) this.page.drafts.setPassage(this.row.item, this.passage.value.trim());
    this.page.drafts.comments.set(this.row.item.slot, this.more.value());
    if (this.more.reason) this.page.drafts.why.set(this.row.item.slot, this.more.reason());
  }
}

// By question: all candidates of one question on a page, Y or N per row, arrows to move.

import { Bulk } from "./bulk.js";
import { fillCard } from "./card.js";
import { fillSearches, hostsOf, RULE, shorten } from "./evidence.js";
import { CandidateRow } from "./candidate.js";
import { Fold } from "./fold.js";
import { LinkField, thenAnswer, thenEnter } from "./link_field.js";
import { problemOf } from "./links.js";
import { message } from "./messages.js";
import { SAID, filled, gettext, ngettext, number } from "./words.js";

const TYPES = matchMedia("(min-width: 721px), (pointer: fine)"); // there is a keyboard, or room for the field

export class Rows {
  constructor(page) {
    this.page = page;
    this.loop = page.loop;
    this.group = null;
    this.at = null; // slot of the row that keys are about; none when all are answered
    this.waits = null; // what waits for a link to it: {answer, said, act()}
    this.reopened = null; // slot of the row that Undo went to, while it is the one
    this.rows = new Map(); // slot: CandidateRow
    this.searchesBoth = false; // rows search for their candidate alone, or together with what the question names
    this.root = document.querySelector('[data-view="group"]');
    this.find = (selector) => this.root.querySelector(selector);
    this.list = this.find("[data-rows]");
    this.link = new LinkField(this.find(".link-field"), () => this.loop.rowsOf(this.group)[0]?.item, () => this.linkChanged(), (told) => page.say("info", told));
    this.passage = this.find("#question-passage");
    this.nextButton = document.querySelector("[data-bar] [data-next]");
    this.more = document.querySelector("[data-bar] [data-more]");
    this.bulk = new Bulk(this, this.more.querySelector("[data-rest]"));
    this.fold = new Fold(this.root);
    this.passage.addEventListener("input", () => this.page.drafts.passages.set(this.group, this.passage.value.trim()));
    for (const field of [this.link.field, this.passage]) {
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault(); // the button that may get the focus is not to be pressed by this
        if (!field.value && this.goOn()) return;
        if (this.link.stays(this.link.check())) return;
        this.focus();
        if (!this.link.value || !this.current()) return;
        if (this.waits && this.link.warning) this.page.say("info", thenEnter(this.waits.said));
        else if (!this.finish()) this.page.say("info", thenAnswer());
      });
    }
    this.nextButton.addEventListener("click", () => this.goOn());
    this.keys = {
      y: () => this.give("Y"), n: () => this.give("N"), s: () => this.press("?"), l: () => this.takeLast(), c: () => this.link.take("copied"),
      r: () => this.bulk.begin(), e: () => this.current() && this.rows.get(this.at).openLink(),
      arrowdown: () => this.move(1), arrowup: () => this.move(-1), arrowright: () => this.goOn(), enter: () => this.finish() || this.goOn() || this.sayOpen(),
      escape: () => this.keep(),
    };
  }

  // -- the view

  enter(slot) {
    this.root.hidden = this.more.hidden = false;
    const row = this.loop.rows.get(slot) ?? this.loop.next(null);
    if (row) this.showGroup(row.item.group, slot);
  }

  leave() {
    this.root.hidden = this.more.hidden = true;
    const slot = this.at;
    this.clear(null);
    return slot;
  }

  refresh() {
    if (!this.group) return void (this.loop.open().length && this.nextGroup());
    for (const row of this.loop.rowsOf(this.group)) this.add(row);
    for (const [slot, shown] of this.rows) {
      if (this.loop.rows.has(slot)) shown.draw();
      else this.drop(slot, shown);
    }
    this.showNext();
  }

  current() {
    return this.loop.rows.get(this.at) ?? null;
  }

  stop() {
    this.clear(null);
  }

  get isEmpty() {
    return this.group === null;
  }

  shownSlots() {
    return [...this.rows.keys()];
  }

  focus() {
    const shown = this.rows.get(this.at);
    if (this.link.error.dataset.message === "no-link") this.link.say(null); // the row says it
    if (shown) shown.focus();
    else if (!this.nextButton.hidden) this.nextButton.focus();
    else this.find("[data-group]").focus();
  }

  // A question that the server refused is open again: its row says why; if another question is shown, it comes next.
  back() {
    this.refresh();
  }

  paste(link) {
    const shown = this.rows.get(this.at);
    if (shown?.isLinkOpen) {
      shown.setLink(link);
      shown.say(problemOf(link, "?", "never", hostsOf(shown.row.item)));
    } else if (this.link.stays(this.link.put(link))) return;
    this.focus();
    if (this.waits) this.page.say("info", thenEnter(this.waits.said));
    else this.page.sayFirst(thenAnswer());
  }

  // -- the question

  // The next question, when all rows are answered; whether they are.
  goOn() {
    if (this.nextButton.hidden) return false;
    this.nextGroup();
    return true;
  }

  sayOpen() {
    const open = [...this.rows.values()].filter((shown) => !shown.row.done).length;
    if (open) this.page.say("info", message("open", filled(ngettext("Enter goes on when all rows are answered: {n} is open.", "Enter goes on when all rows are answered: {n} are open.", open), { n: number(open) })));
  }

  nextGroup() {
    const row = this.loop.next(this.group);
    if (row) return this.showGroup(row.item.group, row.item.slot);
    this.clear(null);
    this.root.setAttribute("aria-busy", "true");
    this.loop.ask();
  }

  get canUndo() {
    return this.bulk.isWaiting;
  }

  clear(group) {
    this.bulk.send();
    this.group = group;
    this.at = null;
    this.rows.clear();
    this.list.replaceChildren();
  }

  showGroup(group, slot) {
    this.clear(group);
    this.root.removeAttribute("aria-busy");
    this.page.say("info", null); // it was about the question before
    const { item } = this.loop.rowsOf(group)[0];
    const fixed = item.side === "tail" ? "subject" : "object";
    this.find("[data-group]").textContent = item.group_question;
    fillCard(this.find("[data-fixed-card]"), item[fixed], true);
    this.find("[data-fixed]").textContent = item[fixed].label;
    this.find("[data-rule]").textContent = RULE[this.page.config.evidence_rule];
    fillSearches(this.find("[data-searches]"), item, fixed, 8, 5);
    this.link.set(this.page.drafts.question.get(group) ?? "");
    this.link.offer("copied", "");
    this.passage.value = this.page.drafts.passages.get(group) ?? "";
    this.showLast();
    this.page.clock.restart();
    this.page.appeared();
    for (const row of this.loop.rowsOf(group)) this.add(row);
    this.showNext();
    const first = this.rows.has(slot) ? slot : this.firstOpen();
    if (first) this.goTo(first);
    else this.focus();
  }

  add(row) {
    if (this.rows.has(row.item.slot)) return;
    const shown = new CandidateRow(this, row, this.rows.size + 1);
    this.rows.set(row.item.slot, shown);
    this.list.append(shown.root);
    for (const other of this.rows.values()) other.name();
  }

  drop(slot, shown) {
    const open = this.firstOpen(slot);
    shown.root.remove();
    this.rows.delete(slot);
    if (this.at === slot) this.advance(open);
  }

  showNext() {
    const open = [...this.rows.values()].filter((shown) => !shown.row.done).length;
    this.page.bar.enable(this.at !== null); // when all are answered, there is nothing that an answer could be about
    this.nextButton.hidden = open > 0 || !this.rows.size;
    this.bulk.show(open);
    this.find("[data-link-for]").textContent = open < this.rows.size ? gettext("Link for the open rows") : gettext("Link for all rows");
    const earlier = this.page.drafts.answeredIn(this.group).filter((slot) => !this.rows.has(slot)).length;
    this.find("[data-earlier]").hidden = !earlier;
    this.find("[data-earlier]").textContent = earlier ? filled(gettext("{n} others answered before"), { n: number(earlier) }) : "";
    this.find("[data-left]").textContent = open ? filled(gettext("{n} of {all} left"), { n: number(open), all: number(this.rows.size) }) : gettext("all answered");
  }

  // -- rows

  // The next row without an answer, after this one and then from the top.
  firstOpen(after = null) {
    const slots = [...this.rows.keys()];
    const from = slots.indexOf(after) + 1;
    return [...slots.slice(from), ...slots.slice(0, from)].find((slot) => slot !== after && !this.loop.rows.get(slot)?.done) ?? null;
  }

  // Make it the row that keys are about, without moving the focus there.
  point(slot) {
    if (this.at === slot) return;
    this.page.forget("changing"); // it was about the row before
    this.rows.get(this.at)?.activate(false);
    this.at = slot;
    this.waits = this.reopened = null;
    this.rows.get(slot)?.activate(true);
    document.querySelector("[data-about]").textContent = this.rows.get(slot)?.candidate.label ?? "";
    this.page.bar.enable(slot !== null);
    this.markBar();
  }

  markBar() {
    const given = this.loop.rows.get(this.at)?.done?.given?.answer ?? "";
    this.page.bar.mark(this.rows.get(this.at)?.isAsking ? "?" : this.waits?.answer ?? given);
  }

  goTo(slot) {
    this.point(slot);
    this.rows.get(slot).focus();
  }

  move(step) {
    const slots = [...this.rows.keys()];
    const at = this.at ? slots.indexOf(this.at) + step : step > 0 ? slots.length : slots.length - 1;
    if (at < 0) return;
    if (at < slots.length) this.goTo(slots[at]);
    else if (!this.nextButton.hidden) this.advance(null);
  }

  // The page moves on by itself: a press that comes too soon was meant for the row before.
  advance(slot) {
    this.page.guard.close();
    if (slot) return this.goTo(slot);
    this.point(null);
    this.showNext();
    this.focus();
  }

  press(answer) {
    if (answer === "?") this.rows.get(this.at)?.openWhy();
    else this.give(answer);
  }

  give(answer, slot = this.at, comment = "") {
    const shown = this.rows.get(slot);
    const { page } = this;
    if (!shown) return;
    if (page.isTooFast()) return;
    if (shown.isFixed) return shown.sayFixed();
    const { row } = shown;
    this.bulk.leaveOut(row);
    const link = answer === "?" ? "" : page.drafts.linkOf(row.item);
    const passage = answer === "?" ? "" : page.drafts.passageOf(row.item);
    const problem = problemOf(link, answer, page.config.evidence_rule, hostsOf(row.item));
    if (problem) return this.refuse(shown, problem, { answer, said: SAID[answer], act: () => this.give(answer) });
    this.waits = null;
    shown.close();
    const was = row.done?.given;
    if (row.done?.state === "refused" || !was || was.answer !== answer || was.source_url !== link || was.passage !== passage || was.comment !== comment) {
      this.loop.answer(row, { answer, source_url: link, passage, comment, ...page.clock.lap() });
    }
    page.forget("changing"); // also when the answer stays as it was
    this.reopened = null;
    shown.draw();
    const open = this.firstOpen(slot);
    const left = [...this.rows.values()].filter((other) => !other.row.done).length;
    // not within the text: Babel before 2.19 finds only the first gettext of a template literal
    const rest = left ? filled(gettext("{n} left."), { n: number(left) }) : gettext("All are answered.");
    page.announce(message(`answered-${answer}`, `${SAID[answer]}: ${shown.candidate.label}. ${rest}`));
    this.showLast();
    this.advance(open);
  }

  // The answer that waited for a link, once there is one; whether it did.
  finish() {
    const row = this.current();
    const { waits } = this;
    if (!waits || !row || !this.page.drafts.linkOf(row.item)) return false;
    waits.act();
    return true;
  }

  // Where a link is missing, the field for it waits, and the answer with it; what is typed must not be taken for keys.
  // Without a keyboard the field would only unfold over the row that says so. waits: what Enter does with a link.
  refuse(shown, problem, waits) {
    const isMissing = problem.name === "no-link";
    this.waits = isMissing && shown === this.rows.get(this.at) ? waits : null;
    this.markBar();
    shown.refuse(problem, isMissing && TYPES.matches && shown.isLinkOpen ? shown.field : null);
    if (!isMissing || shown.isLinkOpen) return;
    if (!TYPES.matches) return shown.root.scrollIntoView({ block: "start" }); // whom it is about
    this.fold.focus(this.link.field);
    this.link.say(problem); // here too: on a small screen it unfolded over the row
  }

  undo() {
    if (this.bulk.isWaiting) return this.bulk.takeBack();
    const row = this.loop.lastAnswered(this.current()?.done ? this.at : null);
    if (!row) return this.page.sayNoUndo();
    const { group, slot } = row.item;
    if (group === this.group) this.goTo(slot);
    else this.showGroup(group, slot);
    this.page.say("info", message("changing", filled(gettext("Reopened: {name}. Your answer {answer} counts until you give another."), {
      name: this.rows.get(slot).candidate.label, answer: SAID[row.done.given.answer],
    })));
    this.reopened = slot;
    if (row.done.given.answer === "?") this.rows.get(slot).openWhy(false); // with its reason; answer keys still work
  }

  // Back from an undo without a change.
  keep() {
    const shown = this.rows.get(this.at);
    if (!shown?.row.done || this.reopened !== this.at) return;
    shown.close();
    this.page.forget("changing");
    this.advance(this.firstOpen(this.at));
  }

  searchFor(both) {
    this.searchesBoth = both;
    for (const shown of this.rows.values()) shown.fillSearches();
  }

  // -- the link for all rows

  linkChanged() {
    this.page.drafts.question.set(this.group, this.link.value);
    for (const shown of this.rows.values()) shown.linkChanged();
  }

  takeLast() {
    const last = this.page.drafts.lastOf(this.group);
    const shown = this.rows.get(this.at);
    if (last && shown?.isLinkOpen) shown.setLink(last);
    else this.link.take("last");
  }

  // An address was copied since this page was left.
  copied(link) {
    const row = this.loop.rowsOf(this.group)[0];
    if (row && !problemOf(link, "?", "never", hostsOf(row.item))) this.link.offer("copied", link, shorten(link));
  }

  showLast() {
    const last = this.page.drafts.lastOf(this.group);
    this.link.offer("last", last, last && shorten(last));
  }

  searches() {
    return this.find("[data-searches]").querySelectorAll("a");
  }
}

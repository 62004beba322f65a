// What the annotation and the adjudication page have in common on the screen: notices, progress, dialogs, keys,
// and which view is shown. A view has enter(slot), leave() (returns the slot it was at), refresh(), focus(),
// current() (the row that keys are about), canUndo (something that was not sent yet), stop() (show nothing), back(row, given), paste(link), keys.

import { AnswerBar } from "./bar.js";
import { Clipboard } from "./clipboard.js";
import { Clock } from "./clock.js";
import { Drafts, pasted } from "./evidence.js";
import { FlagDialog } from "./flag.js";
import { Guard } from "./guard.js";
import { Guidelines } from "./guidelines.js";
import { Idle } from "./idle.js";
import { showKeys } from "./keymap.js";
import { bindDialogs, bindKeys } from "./keys.js";
import { Loop } from "./loop.js";
import { message, show } from "./messages.js";
import { markMore } from "./more.js";
import { Outcomes } from "./outcomes.js";
import { Progress } from "./progress.js";
import { SAID, filled, gettext, ngettext, number } from "./words.js";

const ACTIVE_MS = 5 * 60000;
const KEPT = gettext("Your answers are kept in this browser and are sent again by themselves.");
const OPEN = gettext("This browser cannot store your answers: leave this page open until they are sent, which it tries again by itself.");
const WAITING = {
  offline: gettext("The server cannot be reached."),
  failed: gettext("The server had a problem."),
  busy: gettext("The server is busy."),
  "signed-out": gettext("You are signed out."),
};

const NO_ADDRESS = message("no-address-pasted", gettext("There is no web address in what you pasted. Copy the address of a page, then paste again."));

// How long an answer can be changed, said once in a session; null where it can't.
const changeable = (minutes, last) => minutes && message("changeable", filled(
  ngettext("You can change your last {last} answers for {n} minute: by Undo, or under My labels.", "You can change your last {last} answers for {n} minutes: by Undo, or under My labels.", minutes), { n: number(minutes), last: number(last) },
));

// Two messages said at once; either may be null.
const both = (one, other) => (one && other ? message(`${one.name} ${other.name}`, `${one.words} ${other.words}`) : one || other);

const decided = (answer) => message("decided", filled(gettext("Decided: {answer}."), { answer: SAID[answer] }));
const changed = (before, now) => message("changed-answer", filled(gettext("Changed from {before} to {now}."), { before: SAID[before], now: SAID[now] }));

const NO_UNDO = message("no-undo", gettext("Nothing to undo since this page was loaded."));
const TOO_LATE = message("late-undo", gettext("Too late to undo: the time to change an answer is over. If one is wrong, report it."));

const find = (selector) => document.querySelector(selector);

export class Page {
  constructor() {
    this.config = JSON.parse(document.getElementById("config").textContent);
    this.area = find("[data-loop]");
    this.clock = new Clock();
    const scope = `${this.config.person}:${this.config.pool}:${this.config.role}`;
    this.drafts = new Drafts(scope);
    this.guard = new Guard();
    this.bar = new AnswerBar(find("[data-bar]"), (answer) => this.area.hidden || this.view.press(answer));
    this.bar.enable(false);
    this.progress = new Progress(scope, this.config.urls.progress, document, () => !this.loop.outbox.count(), this.config.role === "annotator");
    this.outcomes = new Outcomes(scope, find("[data-outcomes]"));
    this.guidelines = new Guidelines(this.config, find('[data-dialog="guidelines"]'), (told) => this.say("guidelines", told));
    this.idling = new Idle(find("[data-idle]"), this.config, () => this.loop.leases.fetch());
    this.loop = new Loop(this.config, this);
    this.flags = new FlagDialog(find('[data-dialog="flag"]'), (row, kind, text) => this.loop.report(row, kind, text));
  }

  // keys and acts beyond those of the view: {r: () => …}, {return: () => …}
  start(view, { keys = {}, acts = {} } = {}) {
    this.view = view;
    const all = {
      undo: () => this.view.undo(),
      keep: () => this.view.keep(),
      flag: () => this.flag(),
      guidelines: () => this.guidelines.open(),
      keys: () => find('[data-dialog="keys"]').showModal(),
      again: () => this.loop.leases.fetch(),
      ...acts,
    };
    const searches = Object.fromEntries([1, 2, 3, 4, 5].map((number) => [number, () => this.view.searches()[number - 1]?.click()]));
    const shared = { ...searches, u: all.undo, f: all.flag, g: all.guidelines, "?": all.keys, ...keys };
    for (const button of document.querySelectorAll("[data-act]")) button.addEventListener("click", () => all[button.dataset.act]());
    for (const button of document.querySelectorAll("[data-send]")) button.addEventListener("click", () => this.loop.outbox.flush());
    document.addEventListener("paste", (event) => this.paste(event));
    document.addEventListener("blocked", (event) => this.say("info", event.detail));
    this.clipboard = new Clipboard(find("[data-clipboard]"), (link) => this.area.hidden || this.view.copied(link));
    showKeys();
    markMore(document.querySelectorAll(".zone-read, .zone-question, .zone-head, .zone-disputes, .dispute-rows, dialog"));
    bindDialogs();
    bindKeys((name) => (this.area.hidden ? all[{ g: "guidelines", "?": "keys", u: "undo" }[name]] : this.view.keys[name] ?? shared[name]), (field) => {
      field.blur();
      this.view.focus();
    });
    view.enter(null);
    this.changed();
    this.progress.start();
    this.guidelines.remind(this.config.guidelines_version);
    this.loop.start();
  }

  switchTo(view) {
    if (view === this.view) return;
    const slot = this.view.leave();
    this.view = view;
    view.enter(slot);
    this.changed();
  }

  // A question came on the screen.
  appeared() {
    this.idling.hide();
    this.area.hidden = false;
    this.bar.enable(true);
    this.sayLast();
    this.guard.close();
  }

  // Whether a press was meant for the question before, which it then says; another press takes that word away.
  isTooFast() {
    const { isClosed } = this.guard;
    if (isClosed) this.bar.tooFast((told) => this.say("info", told));
    else this.forget("too-fast");
    return isClosed;
  }

  // Answers from before the page was loaded are not in its memory; the server still lets them be changed.
  sayNoUndo() {
    const { labels } = this.config.urls;
    const isLate = [...this.loop.rows.values()].some((row) => row.done?.state === "over");
    this.say("info", isLate ? TOO_LATE : NO_UNDO, labels && { href: labels, label: gettext("My labels") });
  }

  flag() {
    const row = this.view.current();
    if (row) this.flags.open(row);
  }

  paste(event) {
    const link = pasted(event);
    const field = event.target instanceof Element && event.target.closest("input, textarea");
    if (this.area.hidden || document.querySelector("dialog[open]") || (field && !field.matches("[data-link-field]"))) return;
    if (!link) {
      if (!field) this.say("info", NO_ADDRESS);
      return;
    }
    event.preventDefault();
    this.view.paste(link);
  }

  // -- what the loop says

  // A hint for whoever has given no answer yet.
  sayFirst(told) {
    if (!this.loop.history.length) this.say("info", told);
  }

  changed() {
    this.view?.refresh();
    const unsaved = this.loop?.outbox?.count() ?? 0;
    const badge = find("[data-unsaved]");
    badge.hidden = unsaved < 1;
    badge.textContent = filled(gettext("{n} not saved yet"), { n: number(unsaved) });
    find('[data-act="undo"]').disabled = !this.loop?.history?.length && !this.view?.canUndo;
    this.sayLast();
  }

  // One by one, the answer that Undo would open, once the server has it; none while an answer is reopened.
  sayLast() {
    const last = find("[data-last-answer]");
    if (!last || !this.view) return;
    const row = this.view.current();
    const done = this.loop.lastAnswered(row?.done ? row.item.slot : null)?.done;
    const isTold = this.view.root.dataset.view === "one" && !row?.done && done?.state === "saved"; // beside a reopened answer it would be taken for that one's
    show(last, isTold ? message("saved-answer", filled(gettext("{answer}, saved"), { answer: SAID[done.given.answer] })) : null);
  }

  arrived(campaign) {
    if (campaign.evidence_rule) this.config.evidence_rule = campaign.evidence_rule;
    if (this.isWaiting) this.reached();
    this.guidelines.remind(campaign.guidelines_version);
  }

  // slots whose questions are on the screen
  shown() {
    return new Set(this.area.hidden ? [] : this.view.shownSlots());
  }

  // before: the answer that this one takes the place of, or null
  answered(item, given, before) {
    const isFirst = before === null;
    this.progress.count(isFirst ? 1 : 0, given.active_ms);
    if (!this.isWaiting) this.say("error", null);
    const once = this.progress.session === 1 ? changeable(this.config.undo_minutes, this.config.undo_answers) : null;
    if (isFirst) this.say("info", both(this.config.role === "adjudicator" ? decided(given.answer) : null, once));
    else this.say("info", before === given.answer ? null : changed(before, given.answer));
    this.drafts.answered(item, given.source_url);
  }

  counted(n) {
    this.progress.count(n);
  }

  back(row, given, told) {
    this.drafts.setOwn(row.item, given.source_url);
    this.drafts.setPassage(row.item, given.passage ?? "");
    const isReason = given.answer === "?" && this.config.role === "annotator";
    this.drafts[isReason ? "why" : "comments"].set(row.item.slot, given.comment);
    this.say("error", told);
    this.view.back(row);
  }

  outcome(entry, message) {
    this.outcomes.add(entry, message);
  }

  // The label stays as it was before. What was typed with the other answer is kept in sight; an answer alone is not.
  unchanged(entry, said) {
    this.forget("changed-answer");
    const { item, given, before } = entry;
    if (["source_url", "passage", "comment"].some((name) => (given[name] ?? "") !== (before.given[name] ?? ""))) return this.outcome(entry, said);
    const { label } = item.side === "tail" ? item.object : item.subject;
    this.say("info", message("unchanged", `${label}: ${said}`));
  }

  // Nothing came; what is on the screen (all rows answered, an answer that is being changed) stays there.
  idle(kind, seconds = null) {
    if (!this.view.isEmpty) return;
    this.hide();
    this.idling.show(kind, seconds);
  }

  hide() {
    this.area.hidden = true;
    this.bar.enable(false);
    this.bar.mark("");
  }

  // Nothing is asked any more, whatever is on the screen.
  closed() {
    for (const dialog of document.querySelectorAll('[data-dialog="flag"][open], [data-dialog="return"][open]')) dialog.close();
    this.view.stop();
    this.say("info", null);
    this.hide();
    this.idling.show("closed");
    this.changed();
  }

  messagesLink() {
    return { href: this.config.urls.messages, label: gettext("Reported statements") };
  }

  // The server could not take an answer: it is kept, and why.
  waiting(reason, data) {
    this.isWaiting = true;
    const { login, consent } = { consent: data.consent, ...this.config.urls };
    const links = {
      "signed-out": { href: login, label: gettext("Sign in") },
      forbidden: consent ? { href: consent, label: gettext("Read and agree") } : data.training ? { href: data.training, label: gettext("Start the training") } : null,
    };
    const words = WAITING[reason] ?? data.error ?? gettext("The server refused.");
    const { outbox } = this.loop;
    const unsent = outbox.isKept ? ["kept", KEPT] : ["not-kept", OPEN];
    const [rest, more] = outbox.count() ? unsent : ["", ""];
    this.say("error", message(`${reason} ${rest}`.trim(), `${words} ${more}`.trim()), links[reason]);
    find("[data-send]").hidden = false;
  }

  reached() {
    if (!this.isWaiting) return;
    this.isWaiting = false;
    find("[data-send]").hidden = true;
    this.say("error", null);
  }

  say(kind, told, link = null) {
    const notice = find(`[data-notice="${kind}"]`);
    const line = notice.querySelector("p");
    show(line, told);
    if (link) {
      const anchor = Object.assign(document.createElement("a"), { href: link.href, textContent: link.label, target: "_blank", rel: "noopener" });
      line.append(" ", anchor);
    }
    notice.hidden = !told;
    if (kind === "info") find("[data-act=keep]").hidden = told?.name !== "changing";
  }

  // What an answer led to beside what is said of it.
  sayToo(told) {
    const { dataset, textContent } = find('[data-notice="info"] p');
    this.say("info", both(dataset.message ? message(dataset.message, textContent) : null, told));
  }

  // What was said of a row or question that is no longer in use.
  forget(name) {
    if (find('[data-notice="info"] p').dataset.message === name) this.say("info", null);
  }

  // Read out, not shown.
  announce(told) {
    show(find("[data-live]"), told);
  }

  isActive() {
    return document.visibilityState === "visible" && this.clock.idleFor() < ACTIVE_MS;
  }
}

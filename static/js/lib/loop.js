// The work in hand: questions held in advance, answers that go out behind, what became of them. It knows no page;
// the views show its rows and call answer(). A row is a question: {item, done, message}; done is the own answer
// to it, {id, given, state}, state one of unsent, saved, over (can no longer be changed), apart, refused, elsewhere.

import { newId } from "./api.js";
import { itemsOf } from "./evidence.js";
import { Leases } from "./leases.js";
import { fromServer, message } from "./messages.js";
import { Outbox } from "./outbox.js";
import { Tabs } from "./tabs.js";
import { gettext } from "./words.js";

const FEW = 5; // fewer questions than this in hand: fetch more
const COUNT = 8;
const CHANGEABLE = 10; // the server lets the last ten be changed

const RETURNED = message("returned", gettext("Two other people are asked."));
const REPORTED = message("reported", gettext("Reported. You will find the reply here:"));
const HELD = message("held", gettext("Reported. The dispute waits until a manager has answered."));

export class Loop {
  // page: the Page of lib/page.js, what it says and shows
  constructor(config, page) {
    this.config = config;
    this.page = page;
    this.rows = new Map(); // slot: row, in the order of arrival
    this.over = new Set(); // slots answered here or in another tab
    this.history = []; // slots, in the order of the answers, of those that may be changed
    this.isClosed = false; // the campaign is: nothing is asked any more
    const scope = `${config.person}:${config.pool}:${config.role}`;
    this.tabs = new Tabs(scope, (slot) => this.answeredElsewhere(slot));
    this.outbox = new Outbox(`triplepool:outbox:${scope}`, this.tabs, {
      changed: () => page.changed(),
      saved: (entry, data) => this.saved(entry, data),
      refused: (entry, message, status) => this.refused(entry, message, status),
      waiting: (reason, data) => page.waiting(reason, data),
    }, (entry) => (entry.kind === "label" ? { ...entry.body, count: this.isFew() ? COUNT : 0 } : entry.body));
    for (const entry of this.outbox.entries()) this.over.add(entry.item.slot);
    this.leases = new Leases(this, COUNT);
  }

  async start() {
    this.outbox.flush();
    await this.leases.fetch();
  }

  // -- questions

  open() {
    return [...this.rows.values()].filter((row) => !row.done);
  }

  isFew() {
    return this.open().length < FEW;
  }

  rowsOf(group) {
    return [...this.rows.values()].filter((row) => row.item.group === group);
  }

  // The next question to answer, of this group while there is one.
  next(group) {
    const open = this.open();
    return open.find((row) => row.item.group === group) ?? open[0] ?? null;
  }

  // New questions; what is known or over is not asked again.
  take(items) {
    if (this.isClosed) return;
    for (const item of items) {
      if (!this.rows.has(item.slot) && !this.over.has(item.slot)) this.rows.set(item.slot, { item, done: null, message: null });
    }
    this.leases.tellTabs();
    this.page.changed();
  }

  drop(slot) {
    this.over.add(slot);
    this.rows.delete(slot);
    this.page.changed();
  }

  // More questions, when there is none to show.
  ask() {
    if (this.isClosed) this.page.idle("closed");
    else this.leases.fetch();
  }

  // The campaign's state. Of a closed one no question stays in hand; answers on their way are still sent.
  told(state) {
    this.isClosed = state === "closed";
    if (!this.isClosed) return;
    for (const slot of this.leases.held()) this.rows.delete(slot);
    this.history = [];
    this.leases.tellTabs();
    this.page.closed();
  }

  more() {
    if (!this.isClosed && this.isFew() && !this.outbox.count()) this.leases.fetch();
  }

  // -- answers

  // given: {answer, source_url, comment, active_ms, away_ms}
  answer(row, given) {
    const id = newId();
    const { item } = row;
    const before = row.done && row.done.state !== "refused" ? { id: row.done.id, given: row.done.given } : null;
    row.done = { id, given, state: "unsent" };
    row.message = null;
    this.over.add(item.slot);
    const history = [...this.history.filter((slot) => slot !== item.slot), item.slot];
    this.history = history.slice(-CHANGEABLE);
    for (const slot of history.slice(0, -CHANGEABLE)) this.expire(this.rows.get(slot));
    if (!before) this.tabs.answered(item.slot);
    this.page.answered(item, given, before?.given.answer ?? null);
    this.outbox.add(before ? this.change(id, item, given, before) : this.first(id, item, given));
    this.more();
  }

  first(id, item, given) {
    const body = { slot: item.slot, lease: item.lease, client_id: id, ...given };
    return { id, kind: "label", item, given, before: null, url: this.config.urls.submit, body };
  }

  change(id, item, given, before) {
    const url = this.config.urls.change.replace("{label}", before.id);
    return { id, kind: "change", item, given, before, url, body: { client_id: id, ...given } };
  }

  report(row, kind, text) {
    const id = newId();
    const { item } = row;
    const body = { slot: item.slot, lease: item.lease, client_id: id, kind, text };
    const holds = this.config.role === "adjudicator" && kind === "words";
    this.outbox.add({ id, kind: "flag", item, given: { kind, comment: text }, holds, url: this.config.urls.flag, body });
    if (holds) this.drop(item.slot);
  }

  giveBack(row, reason) {
    const id = newId();
    const { item } = row;
    const body = { slot: item.slot, lease: item.lease, reason };
    this.outbox.add({ id, kind: "return", item, given: { comment: reason }, url: this.config.urls.give_back, body });
    this.drop(item.slot);
  }

  // The row of the last answer before this one (a slot), or of the very last.
  lastAnswered(before) {
    const at = this.history.indexOf(before);
    const slot = this.history[at >= 0 ? at - 1 : this.history.length - 1];
    return this.rows.get(slot) ?? null;
  }

  // The label of a row can no longer be changed: too late, or ten others came after it.
  expire(row) {
    if (row?.done?.state !== "saved") return;
    row.done.state = "over";
    this.history = this.history.filter((slot) => slot !== row.item.slot);
    this.page.changed();
  }

  answeredElsewhere(slot) {
    this.over.add(slot);
    const row = this.rows.get(slot);
    if (row && !row.done) row.done = { id: null, given: null, state: "elsewhere" };
    this.page.changed();
    this.more();
  }

  // -- what became of them

  saved(entry, data) {
    this.page.reached();
    const row = this.rows.get(entry.item.slot);
    if (data.state) this.told(data.state); // first, since it clears what was said
    if (data.kept === "surplus") this.apart(entry, row, data.message);
    else if (row?.done?.id === entry.id) this.kept(row);
    if (entry.kind === "flag") this.reported(entry, data);
    if (entry.kind === "return") this.page.say("info", RETURNED);
    if (entry.kind === "return" || data.held) this.page.progress.ask();
    if (data.items) this.take(itemsOf(data));
    this.more();
  }

  // The minutes count from the first answer, as the server counts them.
  kept(row) {
    row.done.state = "saved";
    row.until ??= Date.now() + this.config.undo_minutes * 60_000;
    setTimeout(() => this.expire(row), row.until - Date.now());
  }

  // There is no label, so nothing to undo or to change. Another question may be on the screen: the candidate is named.
  apart(entry, row, said) {
    const { item } = entry;
    const { slot } = item;
    if (row?.done?.given) row.done = { id: entry.id, given: entry.given, state: "apart" };
    this.history = this.history.filter((other) => other !== slot);
    this.page.counted(entry.kind === "label" ? -1 : 0);
    for (const later of this.outbox.entries().filter((other) => other.kind === "change" && other.item.slot === slot)) this.outbox.remove(later);
    const { label } = item.side === "tail" ? item.object : item.subject;
    this.page.say("info", message("apart", `${label}: ${said}`));
  }

  reported(entry, data) {
    if (!entry.holds) return this.page.say("info", REPORTED, this.page.messagesLink());
    // no longer this person's; when a manager has answered it may be given out to them again
    this.over.delete(entry.item.slot);
    if (data.held) return this.page.say("info", HELD, this.page.messagesLink());
    this.take([entry.item]);
  }

  refused(entry, message, status) {
    this.page.reached();
    if (entry.kind === "return" && entry.tried && (status === 404 || status === 409)) {
      // its first try did reach the server, only the reply was lost
      this.page.say("info", RETURNED);
      return;
    }
    if (entry.kind === "flag" || entry.kind === "return") {
      this.page.outcome(entry, message);
      return;
    }
    if (this.passOn(entry)) return;
    const row = this.rows.get(entry.item.slot);
    if (entry.kind === "change") {
      if (row?.done?.id === entry.id) {
        Object.assign(row, { done: { ...entry.before, state: "saved" }, message: fromServer(message) });
        if (status === 409) this.expire(row);
      }
      this.page.unchanged(entry, message);
      return;
    }
    this.history = this.history.filter((slot) => slot !== entry.item.slot);
    this.page.counted(-1);
    if (status === 422 && !this.isClosed) this.comesBack(entry, message);
    else {
      if (row) Object.assign(row, { done: { ...row.done, state: "refused" }, message: fromServer(message) });
      this.page.outcome(entry, message);
    }
  }

  // A later answer to the same question waits behind a refused one: it takes its place. Whether there is one.
  passOn(entry) {
    const later = this.outbox.entries().find((other) => other.kind === "change" && other.before.id === entry.id);
    if (!later) return false;
    const { id, at, tab, item, given } = later;
    const again = entry.kind === "label" ? this.first(id, item, given) : this.change(id, item, given, entry.before);
    this.outbox.replace({ ...again, at, tab });
    return true;
  }

  // The question is open again, with what was typed.
  comesBack(entry, said) {
    const { slot } = entry.item;
    this.over.delete(slot);
    const row = this.rows.get(slot) ?? { item: entry.item };
    Object.assign(row, { done: null, message: fromServer(said) });
    if (!this.rows.has(slot)) this.rows.set(slot, row);
    this.page.back(row, entry.given, message("here-again", `${said} ${gettext("Your answer was not saved yet; it is here again.")}`));
  }
}

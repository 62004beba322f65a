// The loop of both pages: questions held in advance, answers that go out behind, undo, leases.

import { newId, post, sendOnLeaving, Unreachable } from "./api.js";
import { Outbox } from "./outbox.js";

const FEW = 5; // fewer questions than this in hand: fetch more
const COUNT = 8;
const RENEW_MS = 60000;
const GUARD_MS = 200; // a press this soon after a question appeared was meant for the one before

export class Loop {
  // page: {show(item, prior), idle(kind), say(kind, text), counts({unsaved, today, total}), isActive()}
  constructor(config, page) {
    this.config = config;
    this.page = page;
    this.queue = [];
    this.current = null;
    this.prior = null; // the label that is being changed
    this.history = [];
    this.over = new Set(); // slots that were answered here
    this.shownAt = 0;
    this.progress = { today: 0, total: 0 };
    this.outbox = new Outbox(`triplepool:outbox:${config.person}:${config.pool}:${config.urls.submit}`, {
      changed: () => this.tell(),
      saved: (entry, data) => this.saved(entry, data),
      refused: (entry, message, status) => this.refused(entry, message, status),
      waiting: (reason, message) => this.waiting(reason, message),
    }, (body) => ("slot" in body ? { ...body, count: this.queue.length < FEW ? COUNT : 0 } : body));
    for (const entry of this.outbox.entries()) this.over.add(entry.item.slot);
    setInterval(() => this.renew(), RENEW_MS);
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
  }

  async start() {
    this.outbox.flush();
    await this.fetch();
  }

  async fetch() {
    if (this.fetching) return;
    this.fetching = true;
    try {
      const answer = await post(this.config.urls.claim, { count: COUNT });
      if (answer.ok) {
        this.progress = answer.data.progress;
        this.isOpen = answer.data.campaign.is_open;
        this.take(answer.data.items);
        this.tell();
        if (!this.current) this.page.idle(this.isOpen ? "nothing" : "closed");
      } else if (answer.status === 401) {
        this.waiting("signed-out", "");
      } else {
        this.page.say("error", answer.data.error ?? "The server could not give the next questions. Nothing is lost; look again in a moment.");
        if (!this.current) this.page.idle("failed");
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (!this.current) this.page.idle("offline");
    } finally {
      this.fetching = false;
    }
  }

  take(items) {
    const known = new Set([...this.queue, this.current].filter(Boolean).map((item) => item.slot));
    for (const item of items) if (!known.has(item.slot) && !this.over.has(item.slot)) this.queue.push(item);
    if (!this.current) this.next();
  }

  next() {
    this.prior = null;
    this.current = this.queue.shift() ?? null;
    if (this.current) this.display(null);
    else this.fetch();
  }

  display(prior) {
    this.shownAt = performance.now();
    this.page.show(this.current, prior);
    this.tell();
  }

  get guarded() {
    return performance.now() - this.shownAt < GUARD_MS;
  }

  // given: {answer, source_url, comment, active_ms}
  answer(given) {
    if (!this.current || this.guarded) return;
    const item = this.current;
    const id = newId();
    if (this.prior) {
      const url = this.config.urls.change.replace("{label}", this.prior.id);
      this.outbox.add({ id, item, given, url, prior: this.prior.id, body: { client_id: id, ...given } });
    } else {
      this.over.add(item.slot);
      this.progress = { today: this.progress.today + 1, total: this.progress.total + 1 };
      this.outbox.add({ id, item, given, url: this.config.urls.submit, body: { slot: item.slot, lease: item.lease, client_id: id, ...given } });
    }
    this.history.push({ id, item, given });
    this.next();
    if (this.queue.length < FEW && !this.outbox.count()) this.fetch();
  }

  undo() {
    const last = this.history.pop();
    if (!last) return;
    if (this.current && !this.prior) this.queue.unshift(this.current);
    this.current = last.item;
    this.prior = last;
    this.display(last);
  }

  // Back from an undo without a change.
  keep() {
    if (!this.prior) return;
    this.history.push(this.prior);
    this.next();
  }

  saved(entry, data) {
    if (data.message) this.page.say("info", data.message);
    else if (this.isWaiting) this.page.say("error", "");
    this.isWaiting = false;
    if (data.progress) {
      const ahead = this.outbox.entries().filter((other) => !other.prior).length;
      this.progress = { today: data.progress.today + ahead, total: data.progress.total + ahead };
    }
    if (data.items) this.take(data.items);
    this.tell();
  }

  refused(entry, message, status) {
    this.history = this.history.filter((past) => past.id !== entry.id);
    if (status === 422 && !entry.prior) {
      // what was typed comes back with its question
      if (this.current && !this.prior) this.queue.unshift(this.current);
      this.over.delete(entry.item.slot);
      this.prior = null;
      this.current = entry.item;
      this.display(entry);
      this.page.say("error", `${message} Your answer was not saved yet; it is here again.`);
      return;
    }
    this.page.say("error", `“${entry.item.question}”: ${message}`);
  }

  waiting(reason, message) {
    const kept = "Your answers are kept in this browser and are sent again by themselves.";
    const words = {
      offline: `The server cannot be reached. ${kept}`,
      forbidden: `The server refused: ${message} ${kept}`,
      "signed-out": `You are signed out. Sign in again in another tab. ${kept}`,
    };
    this.isWaiting = true;
    this.page.say("error", words[reason]);
    if (!this.current) this.page.idle("offline");
  }

  tell() {
    const group = this.current?.group;
    const left = this.queue.filter((item) => item.group === group).length + (this.current ? 1 : 0);
    const done = this.history.filter((past) => past.item.group === group).length;
    this.page.counts({ ...this.progress, unsaved: this.outbox.count(), canUndo: this.history.length > 0, done, group: done + left });
  }

  held() {
    return [...this.queue, this.current].filter((item) => item && !this.over.has(item.slot)).map((item) => item.slot);
  }

  async renew() {
    const slots = this.held();
    if (!slots.length || !this.page.isActive()) return;
    await post(this.config.urls.renew, { slots }).catch(() => {});
  }

  leave() {
    const slots = this.held();
    if (slots.length) sendOnLeaving(this.config.urls.release, { slots });
  }
}

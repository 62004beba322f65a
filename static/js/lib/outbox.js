// Answers on their way to the server. They stay in local storage until the server has said what became of them, so
// that neither a lost connection nor a closed tab loses one. One key each, so that two tabs never overwrite each
// other; a tab takes over what a closed one left. What is sent twice is the same label (its client_id).

import { post, postOnLeaving, Unreachable } from "./api.js";
import { readAll, remove, write } from "./stored.js";
import { gettext } from "./words.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
const FINAL = new Set([400, 404, 409, 413, 422]); // the server will not say otherwise to a repeat
const WAITING = { 401: "signed-out", 403: "forbidden", 404: "forbidden", 429: "busy" };

export const reasonOf = (status) => WAITING[status] ?? "failed";

export class Outbox {
  // on: {changed(), saved(entry, data), refused(entry, message, status), waiting(reason, data)}
  // complete(entry): the body, just before it is sent
  constructor(prefix, tabs, on, complete = (entry) => entry.body) {
    this.prefix = `${prefix}:`;
    this.tabs = tabs;
    this.on = on;
    this.complete = complete;
    this.wait = FIRST_WAIT;
    this.sending = false;
    this.timer = null;
    this.memory = new Map();
    this.isKept = true; // local storage takes what is put there
    this.adopt();
    addEventListener("online", () => this.flush());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.flush());
    addEventListener("focus", () => this.flush());
    addEventListener("beforeunload", (event) => {
      if (this.count()) event.preventDefault();
    });
  }

  // Take over what tabs left that are gone; whether there was anything.
  adopt() {
    const left = Object.values(readAll(this.prefix)).filter((entry) => !this.memory.has(entry.id) && !this.tabs.isAlive(entry.tab));
    for (const entry of left) this.keep({ ...entry, tab: this.tabs.id });
    return left.length > 0;
  }

  entries() {
    return [...this.memory.values()].sort((a, b) => a.at - b.at);
  }

  count() {
    return this.memory.size;
  }

  keep(entry) {
    this.memory.set(entry.id, entry);
    this.isKept = write(this.prefix + entry.id, JSON.stringify(entry));
  }

  add(entry) {
    this.keep({ ...entry, tab: this.tabs.id, at: Date.now() + this.memory.size / 1000 });
    this.on.changed();
    this.flush();
  }

  // What an entry says now, while it waits.
  replace(entry) {
    if (this.memory.has(entry.id)) this.keep(entry);
  }

  remove(entry) {
    this.memory.delete(entry.id);
    remove(this.prefix + entry.id);
  }

  async flush() {
    if (this.sending) return;
    clearTimeout(this.timer);
    this.sending = true;
    const stuck = new Set(); // questions whose entry must wait; what comes later for the same one waits as well
    const next = () => this.entries().find((entry) => !stuck.has(entry.item.slot));
    try {
      for (let entry = next(); entry; entry = next()) {
        const { wait, blocks } = await this.send(entry);
        if (!wait) continue;
        this.timer = setTimeout(() => this.flush(), wait);
        if (blocks) return;
        stuck.add(entry.item.slot);
      }
      if (!stuck.size) this.wait = FIRST_WAIT;
    } finally {
      this.sending = false;
    }
  }

  // Send what waits although the page is being left: the first answer to each question. It stays in storage, since
  // nobody hears what became of it; the next page sends it again.
  leave() {
    const slots = new Set();
    for (const entry of this.entries()) {
      if (!slots.has(entry.item.slot)) postOnLeaving(entry.url, this.complete(entry));
      slots.add(entry.item.slot);
    }
  }

  // wait: milliseconds until the next try, 0 when the entry is done with, one way or the other; blocks: whether the
  // others have to wait too (no connection, not signed in), or only this one met an error of the server.
  async send(entry) {
    let answer;
    try {
      answer = await post(entry.url, this.complete(entry));
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      return { wait: this.later(entry, "offline", {}), blocks: true };
    }
    if (!answer.ok && !FINAL.has(answer.status)) {
      const reason = reasonOf(answer.status);
      return { wait: this.later(entry, reason, answer.data, answer.retryAfter), blocks: reason !== "failed" };
    }
    this.remove(entry);
    if (answer.ok) this.on.saved(entry, answer.data);
    else this.on.refused(entry, answer.data.error ?? gettext("The server refused it."), answer.status);
    this.on.changed();
    return { wait: 0 };
  }

  later(entry, reason, data, asked = 0) {
    this.replace({ ...entry, tried: true });
    this.on.waiting(reason, data);
    const wait = Math.max(asked, this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    return wait;
  }
}

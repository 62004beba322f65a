// Answers on their way to the server. They stay in local storage until the server has said what became of them, so
// that neither a lost connection nor a closed tab loses one. One key each: two tabs never overwrite each other, and
// what both send is the same label (its client_id).

import { post, Unreachable } from "./api.js";

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30000;
const FINAL = new Set([400, 404, 409, 413, 422]); // the server will not say otherwise to a repeat

export class Outbox {
  // on: {changed(count), saved(entry, data), refused(entry, message, status), waiting(reason)}
  // complete(body): the last word on a body just before it is sent
  constructor(prefix, on, complete = (body) => body) {
    this.prefix = `${prefix}:`;
    this.on = on;
    this.complete = complete;
    this.wait = FIRST_WAIT;
    this.sending = false;
    this.timer = null;
    this.memory = new Map(); // where local storage is refused (private windows)
    for (const entry of this.stored()) this.memory.set(entry.id, entry);
    addEventListener("online", () => this.flush());
    addEventListener("beforeunload", (event) => {
      if (this.count()) event.preventDefault();
    });
  }

  stored() {
    try {
      return Object.keys(localStorage).filter((key) => key.startsWith(this.prefix)).map((key) => JSON.parse(localStorage.getItem(key)));
    } catch {
      return [];
    }
  }

  entries() {
    return [...this.memory.values()].sort((a, b) => a.at - b.at);
  }

  count() {
    return this.memory.size;
  }

  add(entry) {
    const kept = { ...entry, at: Date.now() + this.memory.size / 1000 };
    this.memory.set(kept.id, kept);
    try {
      localStorage.setItem(this.prefix + kept.id, JSON.stringify(kept));
    } catch { /* it is in memory, and leaving warns */ }
    this.on.changed(this.count());
    this.flush();
  }

  remove(entry) {
    this.memory.delete(entry.id);
    try {
      localStorage.removeItem(this.prefix + entry.id);
    } catch { /* as above */ }
    this.on.changed(this.count());
  }

  async flush() {
    if (this.sending) return;
    clearTimeout(this.timer);
    this.sending = true;
    try {
      for (let entry = this.entries()[0]; entry; entry = this.entries()[0]) {
        if (!(await this.send(entry))) {
          this.timer = setTimeout(() => this.flush(), this.wait);
          this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
          return;
        }
        this.wait = FIRST_WAIT;
      }
    } finally {
      this.sending = false;
    }
  }

  // Whether the entry is done with, one way or the other.
  async send(entry) {
    let answer;
    try {
      answer = await post(entry.url, this.complete({ ...entry.body }));
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      this.on.waiting("offline", "");
      return false;
    }
    if (answer.ok) {
      this.remove(entry);
      this.on.saved(entry, answer.data);
      return true;
    }
    const message = answer.data.error ?? "";
    if (FINAL.has(answer.status)) {
      this.remove(entry);
      this.on.refused(entry, message, answer.status);
      return true;
    }
    this.on.waiting(answer.status === 401 ? "signed-out" : answer.status === 403 ? "forbidden" : "offline", message);
    return false;
  }
}

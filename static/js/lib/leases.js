// Leases of a loop: questions come, stay this person's while there is life, and are given back on leaving.

import { post, sendOnLeaving, Unreachable } from "./api.js";
import { itemsOf } from "./evidence.js";
import { reasonOf } from "./outbox.js";

const RENEW_MS = 60000;
const IDLE = { closed: "closed", paused: "paused" };

export class Leases {
  constructor(loop, count) {
    this.loop = loop;
    this.count = count;
    this.urls = loop.config.urls;
    setInterval(() => this.renew(), RENEW_MS);
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.renew());
    addEventListener("pagehide", () => this.leave());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    addEventListener("online", () => !this.held().length && this.fetch());
  }

  // Slots in hand that were not answered.
  held() {
    return this.loop.open().map((row) => row.item.slot);
  }

  // A dispute that the page's address names comes before all others.
  first() {
    const { first } = this.loop.config;
    return first ? { first } : {};
  }

  async fetch() {
    if (this.isFetching) return;
    this.isFetching = true;
    const { loop } = this;
    try {
      const answer = await post(this.urls.claim, { count: this.count, ...this.first() });
      if (answer.ok) {
        loop.page.arrived(answer.data.campaign);
        loop.told(answer.data.campaign.state);
        this.reconcile(answer.data.items);
        loop.take(itemsOf(answer.data));
        const opens = answer.data.opens_in_seconds ?? null;
        if (!loop.open().length) loop.page.idle(IDLE[answer.data.campaign.state] ?? (opens === null ? "nothing" : "later"), opens);
      } else {
        loop.page.waiting(reasonOf(answer.status), answer.data);
        if (!loop.open().length) loop.page.idle("failed");
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      if (!loop.open().length) loop.page.idle("offline");
    } finally {
      this.isFetching = false;
      this.tellTabs();
    }
  }

  // What is no longer this person's (the lease was over, somebody took it) is not asked, unless it is on the screen.
  reconcile(items) {
    const mine = new Set(items.map((item) => item.slot));
    const shown = this.loop.page.shown();
    for (const slot of this.held()) if (!mine.has(slot) && !shown.has(slot)) this.loop.rows.delete(slot);
  }

  tellTabs() {
    this.loop.tabs.hold(this.held());
  }

  async renew() {
    this.tellTabs();
    if (this.loop.outbox.adopt()) this.loop.outbox.flush();
    const slots = this.held();
    if (!slots.length || !this.loop.page.isActive()) return;
    try {
      const answer = await post(this.urls.renew, { slots });
      if (answer.ok && answer.data.slots < slots.length) await this.fetch();
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // the next minute tries again
    }
  }

  leave() {
    const others = this.loop.tabs.heldByOthers();
    const slots = this.held().filter((slot) => !others.has(slot));
    this.loop.tabs.close();
    if (slots.length) sendOnLeaving(this.urls.release, { slots });
  }
}

// Own progress: this session, today, in all, and what is left for this person. The page counts on by itself and asks
// the server from time to time: others answer too.

import { get, Unreachable } from "./api.js";
import { goal } from "./goal.js";
import { message, show } from "./messages.js";
import { readTab, writeTab } from "./stored.js";
import { filled, gettext, ngettext, number } from "./words.js";

const PACE_AFTER_MS = 5 * 60000;
const PACE_AFTER = 10;
const ASK_MS = 5 * 60000;
const NARROW = matchMedia("(max-width: 560px)"); // there is room for a number and a word

export class Progress {
  // scope: whose session, where; isSettled(): whether the server knows every answer that was counted here; asks: statements, not disputes
  constructor(scope, url, root, isSettled, asks) {
    this.stored = `triplepool:session:${scope}`;
    this.url = url;
    this.asks = asks;
    this.isSettled = isSettled;
    this.text = root.querySelector("[data-counts]");
    this.bar = root.querySelector("[data-progress]");
    const { session = 0, activeMs = 0 } = readTab(this.stored, {}); // of this tab, also before a visit of another page
    Object.assign(this, { session, activeMs });
    this.ahead = 0; // counted here before the server has told
  }

  start() {
    NARROW.addEventListener("change", () => this.draw());
    setInterval(() => document.visibilityState === "visible" && this.isSettled() && this.ask(), ASK_MS);
    return this.ask();
  }

  async ask() {
    const before = this.ahead;
    try {
      const answer = await get(this.url);
      if (answer.ok) {
        this.told = answer.data;
        this.ahead -= before; // what was counted here is among what the server told
      }
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // then only the session is shown
    }
    this.draw();
  }

  count(n, activeMs = 0) {
    this.session += n;
    this.ahead += n;
    this.activeMs += activeMs;
    writeTab(this.stored, { session: this.session, activeMs: this.activeMs });
    this.draw();
  }

  pace() {
    if (this.activeMs < PACE_AFTER_MS || this.session < PACE_AFTER) return "";
    return filled(gettext("{n} labels an hour"), { n: number(Math.round((this.session * 3600000) / this.activeMs)) });
  }

  // Today's answers, with the goal of the day if the person set one.
  ofGoal(today) {
    const wanted = goal();
    if (!wanted) return ["today", filled(gettext("{n} today"), { n: number(today) })];
    const { ofGoal, reached } = this.text.dataset;
    const words = today < wanted ? ofGoal : reached;
    return [today < wanted ? "of-goal" : "goal-reached", words.replace("{today}", number(today)).replace("{goal}", number(wanted))];
  }

  draw() {
    const parts = [["session", filled(gettext("{n} in this session"), { n: number(this.session) })], ["pace", this.pace()]];
    const alike = new Set(); // numbers that say nothing beside that of today
    if (this.told) {
      const { left, disputes } = this.told;
      const [today, total] = (this.asks ? [this.told.today, this.told.total] : [this.told.decided_today, this.told.decided]).map((n) => n + this.ahead);
      parts.push(this.asks ? this.ofGoal(today) : ["decided-today", filled(ngettext("{n} decision today", "{n} decisions today", today), { n: number(today) })]);
      parts.push(["total", filled(gettext("{n} by you"), { n: number(total) })]);
      if (!this.session || this.session === today) alike.add("session");
      if (total === today) alike.add("total");
      const open = Math.max((this.asks ? left : disputes) - this.ahead, 0);
      const inFull = this.asks ? ngettext("{n} statement left for you", "{n} statements left for you", open) : ngettext("{n} dispute left", "{n} disputes left", open);
      const words = NARROW.matches ? gettext("{n} left") : inFull;
      parts.push(["left", filled(words, { n: number(open) })]);
      const done = this.asks ? total : this.session;
      this.bar.max = Math.max(done + open, 1);
      this.bar.value = done;
    }
    this.text.replaceChildren(...parts.filter(([, words]) => words).map(([name, words]) => {
      const made = document.createElement("span");
      show(made, message(name, words));
      made.hidden = alike.has(name);
      return made;
    }));
  }
}

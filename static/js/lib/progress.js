// Own progress: this session, today, of the pool. The server is asked once; the page counts on by itself.

import { get, Unreachable } from "./api.js";
import { message, show } from "./messages.js";

const PACE_AFTER_MS = 5 * 60000;
const PACE_AFTER = 10;

const figure = (n) => n.toLocaleString("en");

export class Progress {
  constructor(url, root) {
    this.url = url;
    this.text = root.querySelector("[data-counts]");
    this.bar = root.querySelector("[data-progress]");
    this.session = 0;
    this.activeMs = 0;
    this.ahead = 0; // counted here before the server has told
  }

  async start() {
    try {
      const answer = await get(this.url);
      if (answer.ok) this.told = answer.data;
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error; // then only the session is shown
    }
    this.draw();
  }

  count(n, activeMs = 0) {
    this.session += n;
    this.ahead += n;
    this.activeMs += activeMs;
    this.draw();
  }

  pace() {
    if (this.activeMs < PACE_AFTER_MS || this.session < PACE_AFTER) return "";
    return `${figure(Math.round((this.session * 3600000) / this.activeMs))} an hour`;
  }

  draw() {
    const parts = [["session", `${figure(this.session)} in this session`], ["pace", this.pace()]];
    if (this.told) {
      const { today, total, items } = this.told;
      parts.push(["today", `${figure(today + this.ahead)} today`], ["total", `${figure(total + this.ahead)} of ${figure(items)} triples by you`]);
      this.bar.max = Math.max(items, 1);
      this.bar.value = total + this.ahead;
    }
    this.text.replaceChildren(...parts.filter(([, words]) => words).map(([name, words]) => {
      const made = document.createElement("span");
      show(made, message(name, words));
      return made;
    }));
  }
}

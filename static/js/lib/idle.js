// What stands on the page while there is no question, and when it looks again.

import { message, show } from "./messages.js";

const LOOK_MS = 60000;
const ANNOTATOR = {
  nothing: ["Nothing is left for you here", "Every question that you can answer is answered, in somebody’s hands, or waits until its answers can no longer be changed."],
};
const ADJUDICATOR = {
  nothing: ["No dispute waits for you", "A question comes here when two people answered it differently, never one that you answered yourself."],
  later: ["No dispute is open yet", ""],
};
const BOTH = {
  loading: ["Fetching questions", ""],
  paused: ["This campaign is paused", "It gives out no questions for a while. Your labels are saved."],
  closed: ["This campaign is closed", "It gives out no more questions. Your labels are saved."],
  failed: ["No questions came", "What went wrong stands above. Nothing is lost."],
  offline: ["The server cannot be reached", "Look again when you are connected. Nothing is lost."],
};

function inWords(seconds) {
  const minutes = Math.ceil(seconds / 60);
  return minutes > 1 ? `in about ${minutes} minutes` : "in about a minute";
}

export class Idle {
  constructor(root, config, look) {
    this.root = root;
    this.look = look;
    this.role = config.role;
    this.words = { ...BOTH, ...ANNOTATOR, ...(config.role === "adjudicator" ? ADJUDICATOR : {}) };
  }

  show(kind, seconds = null) {
    const [heading, words] = this.words[kind] ?? this.words.nothing;
    const opens = seconds === null ? "" : `The next one opens ${inWords(seconds)}, when its answers can no longer be changed.`;
    const again = kind === "closed" || kind === "loading" ? "" : "This page looks again every minute.";
    this.root.querySelector("p").textContent = [words, opens, again].filter(Boolean).join(" ");
    this.root.querySelector(".row").hidden = kind === "loading";
    const isNews = this.root.hidden || this.kind !== kind;
    this.kind = kind;
    this.root.hidden = false;
    show(this.root.querySelector("h2"), message(`${this.role} ${kind}`, heading));
    if (isNews) this.root.querySelector("h2").focus();
    clearTimeout(this.timer);
    if (again) this.timer = setTimeout(() => this.again(), Math.min(LOOK_MS, 1000 * (seconds ?? 60) + 1000));
  }

  again() {
    if (document.visibilityState === "visible") this.look();
    else document.addEventListener("visibilitychange", () => this.again(), { once: true });
  }

  hide() {
    this.root.hidden = true;
    clearTimeout(this.timer);
  }
}

// What stands on the page while there is no question, and when it looks again.

import { message, show } from "./messages.js";
import { filled, gettext, ngettext, number } from "./words.js";

const LOOK_MS = 60000;
const ANNOTATOR = {
  nothing: [gettext("Nothing is left for you here"), gettext("Every statement that you can answer is answered, held by somebody now, or waits until its answers can no longer be changed.")],
};
const ADJUDICATOR = {
  nothing: [gettext("No dispute waits for you"), gettext("A statement comes here when two people answered it differently, never one that you answered yourself.")],
  later: [gettext("No dispute is open yet"), ""],
};
const BOTH = {
  paused: [gettext("This campaign is paused"), gettext("It gives out no statements for a while. Your labels are saved.")],
  closed: [gettext("This campaign is closed"), gettext("It gives out no more statements. Your labels are saved.")],
  failed: [gettext("No statements came"), gettext("What went wrong stands above. Nothing is lost.")],
  offline: [gettext("The server cannot be reached"), gettext("Look again when you are connected. Nothing is lost.")],
};

function opening(seconds) {
  const minutes = Math.max(Math.ceil(seconds / 60), 1);
  return filled(ngettext(
    "The next one opens in about a minute, when its answers can no longer be changed.",
    "The next one opens in about {n} minutes, when its answers can no longer be changed.",
    minutes,
  ), { n: number(minutes) });
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
    const opens = seconds === null ? "" : opening(seconds);
    const again = kind === "closed" ? "" : gettext("This page looks again every minute.");
    this.root.querySelector("p").textContent = [words, opens, again].filter(Boolean).join(" ");
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

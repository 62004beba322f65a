// "No for the remaining N": the open rows of a question are answered at once. They wait some seconds before they are
// sent, so that undo takes back all of them; going on, leaving and another answer to one of them do not lose any.

import { hostsOf } from "./evidence.js";
import { problemOf } from "./links.js";
import { keyCap } from "./keymap.js";
import { message } from "./messages.js";
import { filled, gettext, number } from "./words.js";

const WAIT_MS = 10000;

export class Bulk {
  constructor(view, button) {
    this.view = view;
    this.button = button;
    this.rows = []; // answered, and not sent yet
    button.addEventListener("click", () => this.begin());
    // before the next page is asked for, and where only that comes (phones), when this one goes
    for (const event of ["beforeunload", "pagehide"]) addEventListener(event, () => this.leave());
  }

  get isWaiting() {
    return this.rows.length > 0;
  }

  // open: how many rows of the question have no answer
  show(open) {
    this.button.hidden = open < 2;
    this.button.querySelector("span").textContent = filled(gettext("No for the remaining {n}"), { n: number(open) });
  }

  begin() {
    const { view } = this;
    const { page } = view;
    const open = [...view.rows.values()].filter((shown) => !shown.row.done);
    if (open.length < 2) return;
    if (page.isTooFast()) return;
    for (const shown of open) {
      const { item } = shown.row;
      const problem = problemOf(page.drafts.linkOf(item), "N", page.config.evidence_rule, hostsOf(item));
      if (!problem) continue;
      view.goTo(item.slot);
      return view.refuse(shown, problem, { answer: "N", said: this.button.querySelector("span").textContent, act: () => this.begin() });
    }
    this.send();
    const { active_ms, away_ms } = page.clock.lap();
    const each = { active_ms: Math.round(active_ms / open.length), away_ms: Math.round(away_ms / open.length) };
    for (const { row } of open) {
      const { drafts } = page;
      const given = { answer: "N", source_url: drafts.linkOf(row.item), passage: drafts.passageOf(row.item), comment: "", ...each, is_bulk: true };
      row.done = { id: null, given, state: "waiting" };
    }
    this.rows = open.map((shown) => shown.row);
    this.timer = setTimeout(() => this.send(), WAIT_MS);
    page.say("info", message("bulk", filled(
      gettext("No for {n} rows, sent in 10 seconds. Until then, Undo ({key}) takes all of them back."), { n: number(open.length), key: keyCap("u") },
    )));
    page.changed();
    view.advance(null);
  }

  // Another answer to one of them.
  leaveOut(row) {
    if (!this.rows.includes(row)) return;
    this.rows = this.rows.filter((other) => other !== row);
    row.done = null;
  }

  takeBack() {
    const { view } = this;
    clearTimeout(this.timer);
    const rows = this.rows;
    this.rows = [];
    for (const row of rows) if (row.done?.state === "waiting") row.done = null;
    view.page.say("info", message("reopened", filled(gettext("Taken back: {n} rows are open."), { n: number(rows.length) })));
    view.page.changed();
    view.goTo(rows[0].item.slot);
  }

  leave() {
    if (!this.isWaiting) return;
    this.send();
    this.view.loop.outbox.leave();
  }

  send() {
    clearTimeout(this.timer);
    const rows = this.rows.filter((row) => row.done?.state === "waiting");
    this.rows = [];
    for (const row of rows) {
      const { given } = row.done; // the others keep theirs: no row is open in between, so the button that goes on keeps the focus
      row.done = null;
      this.view.loop.answer(row, given);
    }
  }
}

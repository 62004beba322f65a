// Adjudication: the disputes of one question as rows, one of them open. The page's address names the open one.

import { message, show } from "./messages.js";
import { One } from "./one.js";

const ORDER = "YN?";

export class Disputes extends One {
  // words: texts of the page (data-words); said: an answer in words; more: as for One, and leaving()
  constructor(page, words, said, more) {
    super(page, more);
    this.taken = message("taken", words.taken);
    this.decided = words.decided;
    this.said = said;
    this.list = this.find("[data-disputes]");
    this.left = this.find("[data-left]");
    this.template = document.querySelector("template[data-dispute-row]");
    this.buttons = new Map(); // slot: the button of its row
    Object.assign(this.keys, { arrowdown: () => this.move(1), arrowup: () => this.move(-1) });
  }

  // The dispute of the address, then the next row of the same question, then another question.
  next() {
    const { config } = this.page;
    if (config.first && this.loop.rows.size) {
      const row = this.loop.rows.get(config.first);
      config.first = null;
      if (row && !row.done) return this.show(row);
      this.page.say("info", this.taken);
    }
    const rows = this.row ? this.loop.rowsOf(this.row.item.group) : [];
    const after = rows.indexOf(this.row) + 1;
    const open = [...rows.slice(after), ...rows.slice(0, after)].find((row) => !row.done);
    if (open) return this.show(open);
    super.next();
    if (!this.row && !config.first) this.nameInAddress(null);
  }

  show(row) {
    super.show(row);
    this.find(".zone-read").scrollTop = 0; // on a small screen question and answers scroll together
    this.nameInAddress(row.item.slot);
    this.draw();
  }

  refresh() {
    super.refresh();
    this.draw();
  }

  stop() {
    super.stop();
    this.nameInAddress(null);
  }

  keepDraft() {
    this.more.leaving();
    super.keepDraft();
  }

  goTo(row) {
    if (!row || row === this.row) return;
    this.keepDraft();
    this.page.say("info", null);
    this.show(row);
  }

  move(step) {
    if (!this.row) return;
    const rows = this.loop.rowsOf(this.row.item.group);
    this.goTo(rows[rows.indexOf(this.row) + step]);
  }

  nameInAddress(slot) {
    history.replaceState(null, "", slot ? `?dispute=${slot}` : location.pathname);
  }

  // Rows are kept while they are the same, so that none loses the focus.
  draw() {
    if (!this.row) return;
    const rows = this.loop.rowsOf(this.row.item.group);
    if (rows.some((row) => !this.buttons.has(row.item.slot)) || rows.length !== this.buttons.size) {
      this.buttons = new Map(rows.map((row) => [row.item.slot, this.make(row)]));
      this.list.replaceChildren(...this.buttons.values());
    }
    for (const row of rows) this.mark(this.buttons.get(row.item.slot), row);
    const open = rows.filter((row) => !row.done).length;
    show(this.left, message("left", this.left.dataset.left.replace("{left}", open).replace("{all}", rows.length)));
    this.root.classList.toggle("has-one", rows.length === 1);
  }

  make({ item }) {
    const button = this.template.content.firstElementChild.cloneNode(true);
    const candidate = item.side === "tail" ? item.object : item.subject;
    button.querySelector("[data-candidate]").textContent = candidate.label;
    button.querySelector("[data-key]").textContent = candidate.key;
    button.title = `${candidate.label} ${candidate.key}`; // both may be cut
    button.addEventListener("click", () => this.goTo(this.loop.rows.get(item.slot)));
    return button;
  }

  mark(button, row) {
    const own = row.done?.given?.answer;
    const answers = row.item.answers.map(({ answer }) => answer).sort((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other));
    button.dataset.answer = own ?? "";
    button.dataset.state = row.done?.state ?? "";
    button.querySelector("[data-said]").textContent = own
      ? this.decided.replace("{answer}", this.said[own])
      : answers.map((answer) => this.said[answer]).join(" – ");
    const isOpen = row === this.row;
    button.setAttribute("aria-current", String(isOpen));
    if (isOpen) this.list.scrollTop = button.offsetTop - this.list.clientHeight / 2; // the list alone: the question stays in sight
  }
}

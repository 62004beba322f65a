// Evidence: the searches that find it, and what was typed of it.

import { cleanLink } from "./links.js";
import { openAside } from "./side.js";
import { readTab, writeTab } from "./stored.js";
import { filled, gettext, number } from "./words.js";

export const RULE = { both: gettext("required for yes and no"), yes: gettext("required for yes"), never: gettext("optional") };

// The questions of an answer of the server, each with its own sources: {name, host, search, offered}.
export const itemsOf = (data) => data.items.map((item) => ({ ...item, sources: data.sources[item.relation] ?? [] }));

export const hostsOf = (item) => item.sources.map((source) => source.host);

// Host and path of a link, for a line.
export function shorten(link, most = 48) {
  const short = link.replace(/^https?:\/\/(www\.)?/i, "").replace(/\/$/, "");
  return short.length > most ? `${short.slice(0, most - 1)}…` : short;
}

// An address that was pasted, or "".
export function pasted(event) {
  const link = cleanLink(event.clipboardData?.getData("text") ?? "");
  return /^https:\/\/\S+$/.test(link) ? link : "";
}

// The sources of an item that are worth a search; links may go to the others too.
export const searchable = (item) => item.sources.filter((source) => source.offered && source.search?.startsWith("https://"));

// Opens in the side window, unless the person asks the browser for a tab of its own.
function aside(event) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const blocked = openAside(event.currentTarget.href);
  if (blocked) event.currentTarget.dispatchEvent(new CustomEvent("blocked", { bubbles: true, detail: blocked }));
}

// Links that search every source of an item: what is "both", "subject" or "object". A long list shows its
// first few until the person asks for the rest; the first ones have keys.
export function fillSearches(list, item, what, few, keys = 0) {
  const query = encodeURIComponent(what === "both" ? `${item.subject.label} ${item.object.label}` : item[what].label);
  const entries = searchable(item).map((source, at) => {
    const href = source.search.replace("{query}", () => query);
    const link = Object.assign(document.createElement("a"), { href, target: "_blank", rel: "noopener noreferrer", textContent: source.name });
    link.addEventListener("click", aside);
    if (at < keys) link.prepend(Object.assign(document.createElement("kbd"), { className: "kbd", textContent: at + 1 }), " ");
    const entry = document.createElement("li");
    entry.append(link);
    return entry;
  });
  const rest = entries.slice(few);
  if (rest.length > 1 && !("all" in list.dataset)) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button-plain", textContent: filled(gettext("{n} more"), { n: number(rest.length) }) });
    button.addEventListener("click", () => {
      list.dataset.all = "";
      fillSearches(list, item, what, few, keys);
      list.children[few].firstChild.focus();
    });
    const more = document.createElement("li");
    more.append(button);
    entries.splice(few, rest.length, more);
  }
  list.replaceChildren(...entries);
}

const KEPT = 50; // questions whose answers and source a tab remembers

// What was typed and not sent yet, shared by both views so that a switch loses nothing.
export class Drafts {
  // scope: whose drafts, where
  constructor(scope) {
    this.stored = `triplepool:answered:${scope}`;
    this.question = new Map(); // group: the link for all its rows
    this.own = new Map(); // slot: the link of one row
    this.passages = new Map(); // group: what the source says, for all its rows
    this.ownPassages = new Map(); // slot: of one row
    this.comments = new Map(); // slot: the comment
    this.why = new Map(); // slot: why one can't tell
    this.sent = new Map(); // group: the links that went out with an answer since the page was loaded
    this.done = new Map(readTab(this.stored, [])); // group: {link, slots}, the last link that went out with an answer, and what was answered in this tab
  }

  // The link that an answer to this item takes.
  linkOf(item) {
    return this.own.get(item.slot) || this.question.get(item.group) || "";
  }

  // The link that was typed for this item, or for its question and went out with no answer yet.
  unsentLinkOf(item) {
    return this.own.get(item.slot) || (this.isSpent(item.group) ? "" : this.linkOf(item));
  }

  // Whether the link of the question went out with an answer: one by one, it is only offered again.
  isSpent(group) {
    return this.sent.get(group)?.has(this.question.get(group)) ?? false;
  }

  isOwn(item) {
    return Boolean(this.own.get(item.slot));
  }

  setOwn(item, link) {
    if (link && link !== this.question.get(item.group)) this.own.set(item.slot, link);
    else this.own.delete(item.slot);
  }

  // The passage that an answer to this item takes; one of the question belongs to the link of the question.
  passageOf(item) {
    return this.ownPassages.get(item.slot) ?? (this.isOwn(item) ? "" : this.passages.get(item.group) ?? "");
  }

  unsentPassageOf(item) {
    return this.ownPassages.get(item.slot) ?? (this.isSpent(item.group) ? "" : this.passageOf(item));
  }

  setPassage(item, passage) {
    this.ownPassages.delete(item.slot);
    if (passage !== this.passageOf(item)) this.ownPassages.set(item.slot, passage);
  }

  lastOf(group) {
    return this.done.get(group)?.link ?? "";
  }

  answeredIn(group) {
    return this.done.get(group)?.slots ?? [];
  }

  answered(item, link) {
    this.sent.set(item.group, new Set(this.sent.get(item.group)).add(link));
    const slots = new Set(this.answeredIn(item.group)).add(item.slot);
    const done = { link: link || this.lastOf(item.group), slots: [...slots] };
    this.done.delete(item.group); // the newest stands last
    this.done.set(item.group, done);
    writeTab(this.stored, [...this.done].slice(-KEPT));
  }
}

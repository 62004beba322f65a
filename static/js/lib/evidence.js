// Links to evidence: which may stand, which one an answer takes, and the searches that find them.

import { message } from "./messages.js";

const REQUIRED = { both: ["Y", "N"], yes: ["Y"], never: [] };
export const RULE = { both: "required for yes and no", yes: "required for yes", never: "optional" };

const plain = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/;

// Why a link cannot stand, or null. The server decides; this only says it sooner.
export function problemOf(link, answer, rule, hosts) {
  const allowed = hosts.length ? `Links may go to: ${[...hosts].sort().join(", ")}.` : "This campaign has no verified sources yet.";
  const refuse = (name, words) => message(name, `${words} ${allowed}`);
  if (!link) return REQUIRED[rule].includes(answer) ? message("no-link", `A ${answer === "Y" ? "yes" : "no"} needs a link to its evidence: paste the address of a page that you found by a search here.`) : null;
  if (link.length > 2000) return refuse("long", `The link has ${link.length} characters, more than 2000.`);
  let url;
  try {
    url = new URL(link);
  } catch {
    return refuse("no-address", "The link is not a web address.");
  }
  if (url.protocol !== "https:") return refuse("no-https", "The link does not begin with https://.");
  if (url.username || url.password) return refuse("user-name", "The link has a user name in its host.");
  if (/^https:\/\/[^/?#]*:\d/i.test(link)) return refuse("port", "The link has a port.");
  const known = plain.test(url.hostname) && hosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`));
  return known ? null : refuse("not-verified", `The link goes to ${url.hostname}, which is not a verified source.`);
}

// The questions of an answer of the server, each with its own sources: {name, host, search}.
export const itemsOf = (data) => data.items.map((item) => ({ ...item, sources: data.sources[item.relation] ?? [] }));

export const hostsOf = (item) => item.sources.map((source) => source.host);

// Host and path of a link, for a line.
export function shorten(link, most = 48) {
  const short = link.replace(/^https?:\/\/(www\.)?/i, "").replace(/\/$/, "");
  return short.length > most ? `${short.slice(0, most - 1)}…` : short;
}

// An address that was pasted, or "".
export function pasted(event) {
  const text = event.clipboardData?.getData("text").trim() ?? "";
  return /^https?:\/\/\S+$/i.test(text) ? text : "";
}

// The sources of an item that can be searched.
export const searchable = (item) => item.sources.filter((source) => source.search?.startsWith("https://"));

// Links that search every source of an item: what is "both", "subject" or "object". A long list shows its
// first few until the person asks for the rest.
export function fillSearches(list, item, what, few) {
  const query = encodeURIComponent(what === "both" ? `${item.subject.label} ${item.object.label}` : item[what].label);
  const entries = searchable(item).map((source) => {
    const href = source.search.replace("{query}", () => query);
    const link = Object.assign(document.createElement("a"), { href, target: "_blank", rel: "noopener noreferrer", textContent: source.name });
    const entry = document.createElement("li");
    entry.append(link);
    return entry;
  });
  const rest = entries.slice(few);
  if (rest.length > 1 && !("all" in list.dataset)) {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "button-plain", textContent: `${rest.length} more` });
    button.addEventListener("click", () => {
      list.dataset.all = "";
      fillSearches(list, item, what, few);
      list.children[few].firstChild.focus();
    });
    const more = document.createElement("li");
    more.append(button);
    entries.splice(few, rest.length, more);
  }
  list.replaceChildren(...entries);
}

// What was typed and not sent yet, shared by both views so that a switch loses nothing.
export class Drafts {
  constructor() {
    this.question = new Map(); // group: the link for all its rows
    this.own = new Map(); // slot: the link of one row
    this.why = new Map(); // slot: why one can't tell
    this.last = new Map(); // group: the last link that went out with an answer
  }

  // The link that an answer to this item takes.
  linkOf(item) {
    return this.own.get(item.slot) || this.question.get(item.group) || "";
  }

  isOwn(item) {
    return Boolean(this.own.get(item.slot));
  }

  setOwn(item, link) {
    if (link && link !== this.question.get(item.group)) this.own.set(item.slot, link);
    else this.own.delete(item.slot);
  }

  answered(item, link) {
    if (link) this.last.set(item.group, link);
  }
}

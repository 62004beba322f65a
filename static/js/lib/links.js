// Addresses of evidence as text: cleaned, refused with a reason, or warned of. The server has the same rules
// (annotation/sources/evidence.py) and decides; one table of cases tests both.

import { message } from "./messages.js";
import { filled, gettext, number } from "./words.js";

const REQUIRED = { both: ["Y", "N"], yes: ["Y"], never: [] };
const ADDRESS = /https?:\/\/\S+/i;
const BARE = /^(?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,}(?:[/?#]\S*)?$/i;
const OPENERS = "<([{\"'“‘«";
const CLOSERS = ".,;:!?>)]}\"'”’»";
const PAIRS = { ")": "(", "]": "[", "}": "{" };
const PLAIN = /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/;
const ODD = /[\s\\\p{Cc}\p{Cf}\p{Cs}]/u;
const SEARCHES = /^(q|query|search|searchterm|search_query)$/i;

const FRONT = message("front-page", gettext("This is the site’s front page. Link to the page that shows it, if there is one."));
const YES_NEEDS = gettext("“Yes” needs a link to its evidence: paste the address of the page that shows it.");
const NO_NEEDS = gettext("“No” needs a link to its evidence: paste the address of the page that shows it.");
const SEARCH = message("search-page", gettext("This is a search page. Its results change: link to the page that shows it, if there is one."));

const FEW = 3; // sites that a refusal names; of more it names none

const count = (text, sign) => text.split(sign).length - 1;

// Without the punctuation that ends a sentence; a bracket stays if it was opened within.
function withoutEnd(address) {
  let end = address.length;
  while (end && CLOSERS.includes(address[end - 1])) {
    const opened = PAIRS[address[end - 1]];
    const kept = address.slice(0, end);
    if (opened && count(kept, opened) >= count(kept, address[end - 1])) break;
    end -= 1;
  }
  return address.slice(0, end);
}

function withoutStart(word) {
  let at = 0;
  while (at < word.length && OPENERS.includes(word[at])) at += 1;
  return word.slice(at);
}

// The address in a text that somebody typed or pasted, with https://; the text itself if it has none.
export function cleanLink(given) {
  const text = given.trim();
  const found = ADDRESS.exec(text);
  const before = found ? text[found.index - 1] : "";
  if (found && (found.index === 0 || /\s/.test(before) || OPENERS.includes(before))) return withoutEnd(found[0]).replace(/^https?/i, "https");
  const words = text.split(/\s+/).map((word) => withoutEnd(withoutStart(word)));
  const bare = words.find((word) => BARE.test(word) && (words.length === 1 || word.includes("/") || /^www\./i.test(word)));
  return bare ? `https://${bare}` : text;
}

// Where links may go, if these are few: otherwise a button beside the words shows them.
function allowedIn(hosts) {
  if (!hosts.length) return gettext("This campaign accepts no site yet.");
  return hosts.length > FEW ? "" : filled(gettext("Accepted sites: {hosts}."), { hosts: hosts.join(", ") });
}

// Why a link cannot stand, or null. `all`: the hosts, where the words do not name them.
export function problemOf(link, answer, rule, hosts) {
  const refuse = (name, words) => ({ ...message(name, `${words} ${allowedIn(hosts)}`.trim()), all: hosts.length > FEW ? hosts : null });
  if (!link) return REQUIRED[rule].includes(answer) ? message("no-link", answer === "Y" ? YES_NEEDS : NO_NEEDS) : null;
  if (link.length > 2000) return refuse("long", filled(gettext("The link has {n} characters, more than {most}."), { n: number(link.length), most: number(2000) }));
  if (ODD.test(link)) return refuse("odd", gettext("The link has a space, a backslash or a control character."));
  let url;
  try {
    url = new URL(link);
  } catch {
    return refuse("no-address", gettext("The link is not a web address."));
  }
  if (url.protocol !== "https:") return refuse("no-https", gettext("The link does not begin with https://."));
  const place = /^https:\/\/([^/?#]*)/i.exec(link)?.[1] ?? "";
  if (!place) return refuse("no-address", gettext("The link has no host name."));
  if (place.includes("@")) return refuse("user-name", gettext("The link has a user name in its host."));
  if (place.replace(/^.*\]/, "").includes(":")) return refuse("port", gettext("The link has a port."));
  const host = place.toLowerCase();
  const isSame = !/^[\x00-\x7f]*$/.test(host) || host === url.hostname; // what is written is where it goes
  const known = isSame && PLAIN.test(url.hostname) && hosts.some((own) => url.hostname === own || url.hostname.endsWith(`.${own}`));
  return known ? null : refuse("not-verified", filled(gettext("{host} is not accepted."), { host: url.hostname }));
}

// What speaks against a link that may stand, or null: a search page, a site's front page.
export function warningOf(link, sources) {
  const url = URL.canParse(link) ? new URL(link) : null;
  if (!url) return null;
  const searched = (source) => {
    const before = source.search?.split("{query}")[0] ?? "";
    return before.length > `https://${source.host}/`.length && link.startsWith(before);
  };
  if (sources.some(searched) || [...url.searchParams.keys()].some((name) => SEARCHES.test(name)) || /\/search(\/|$)/i.test(url.pathname)) return SEARCH;
  return url.pathname === "/" && !url.search && url.hash.length < 2 ? FRONT : null;
}

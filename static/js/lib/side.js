// One side window for all sources: each search opens there, and the page stays where it is.

import { message } from "./messages.js";
import { gettext } from "./words.js";

const NAME = "triplepool-source";
const BLOCKED = message("blocked", gettext("Your browser blocked the window. Allow pop-ups for this site, then press the key again."));

// Open an address there; what to tell if the browser does not allow it, or null.
export function openAside(address) {
  const width = Math.max(480, Math.round(screen.availWidth * 0.45));
  const left = Math.max(0, screen.availWidth - width);
  const opened = window.open(address, NAME, `popup,width=${width},height=${screen.availHeight},left=${left},top=0`);
  opened?.focus();
  return opened ? null : BLOCKED;
}

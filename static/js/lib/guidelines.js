// The guidelines drawer, and a word when there is a version that this person has not opened.

import { keyOf, markSeen, seenOf } from "./guidelines_seen.js";
import { message } from "./messages.js";
import { gettext } from "./words.js";

const CHANGED = message("changed", gettext("The guidelines have changed."));
const UNREAD = message("unread", gettext("You have not read the guidelines yet."));

export class Guidelines {
  constructor(config, dialog, say) {
    this.pool = config.pool;
    this.version = config.guidelines_version; // the one in the drawer
    this.page = config.urls.guidelines;
    this.dialog = dialog;
    this.say = say;
    markSeen(this.pool, config.guidelines_read); // in another browser
    addEventListener("storage", (event) => { // read in another tab
      if (event.key === keyOf(this.pool) && this.reminded <= seenOf(this.pool)) this.say(null);
    });
  }

  // newest: the version that the server has now
  remind(newest) {
    if (!newest || newest === this.reminded) return;
    const seen = seenOf(this.pool);
    if (newest <= seen) return;
    this.reminded = newest;
    this.newest = newest;
    this.say(seen ? CHANGED : UNREAD);
  }

  open() {
    const isOld = this.newest > this.version; // changed since this page was loaded
    if (isOld) window.open(this.page, "_blank", "noopener");
    else this.dialog.showModal();
    const version = isOld ? this.newest : this.version;
    if (version) markSeen(this.pool, version);
    if (version && !isOld) fetch(`${this.page}?version=${version}`).catch(() => {}); // whose page is opened has read it, says the server
    if (this.reminded) this.say(null);
    this.reminded = this.newest;
  }
}

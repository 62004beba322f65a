// The guidelines drawer, and a word when there is a version that this browser has not seen.

import { keyCap } from "./keymap.js";
import { message } from "./messages.js";
import { read, write } from "./stored.js";
import { filled, gettext } from "./words.js";

const CHANGED = message("changed", filled(gettext("The guidelines have changed. Press {key} to read them."), { key: keyCap("g") }));
const UNREAD = message("unread", filled(gettext("Read the guidelines before you begin: press {key}."), { key: keyCap("g") }));

export class Guidelines {
  constructor(config, dialog, say) {
    this.key = `triplepool:guidelines:${config.pool}`;
    this.version = config.guidelines_version; // the one in the drawer
    this.page = config.urls.guidelines;
    this.dialog = dialog;
    this.say = say;
  }

  // newest: the version that the server has now
  remind(newest) {
    if (!newest || newest === this.reminded) return;
    const seen = Number(read(this.key, "0"));
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
    if (version) write(this.key, String(version));
    if (this.reminded) this.say(null);
    this.reminded = this.newest;
  }
}

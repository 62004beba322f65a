// The same person in two tabs. They hold the same questions: what one answers disappears from the other, and a tab
// that is closed gives back only what no other one shows.

import { newId } from "./api.js";
import { read, readAll, remove, write } from "./stored.js";

const ALIVE_MS = 150000; // browsers let a hidden tab run once a minute

export class Tabs {
  constructor(scope, answeredElsewhere) {
    this.id = newId();
    this.prefix = `triplepool:tab:${scope}:`;
    if ("BroadcastChannel" in window) {
      this.channel = new BroadcastChannel(`triplepool:${scope}`);
      this.channel.addEventListener("message", (event) => answeredElsewhere(event.data.answered));
    }
    this.hold([]);
  }

  answered(slot) {
    this.channel?.postMessage({ answered: slot });
  }

  hold(slots) {
    if (this.isClosed) return;
    write(this.prefix + this.id, JSON.stringify({ at: Date.now(), slots }));
  }

  isAlive(id) {
    if (id === this.id) return true;
    const found = JSON.parse(read(this.prefix + id, "null"));
    return found !== null && Date.now() - found.at < ALIVE_MS;
  }

  // Slots that another living tab shows.
  heldByOthers() {
    const others = Object.keys(readAll(this.prefix)).filter((id) => id !== this.id && this.isAlive(id));
    return new Set(others.flatMap((id) => JSON.parse(read(this.prefix + id, '{"slots": []}')).slots));
  }

  close() {
    this.isClosed = true; // events may still come to a page that is left
    remove(this.prefix + this.id);
  }
}

// Whoever comes back from a source with its address in the clipboard is offered it, if they allowed that.

import { cleanLink } from "./links.js";
import { read, write } from "./stored.js";

const STORED = "triplepool:clipboard";

export class Clipboard {
  // box: the switch of the dialog; offer(link): what was copied since the last time
  constructor(box, offer) {
    this.offer = offer;
    this.last = "";
    addEventListener("focus", () => this.look());
    if (!box) return;
    const can = Boolean(navigator.clipboard?.readText);
    box.closest("[data-clipboard-choice]").hidden = !can;
    box.checked = read(STORED) === "on";
    box.addEventListener("change", async () => {
      // reading asks the browser, and so the person, for permission
      const allowed = box.checked && (await this.copied()) !== null;
      box.checked = allowed;
      write(STORED, allowed ? "on" : "off");
    });
  }

  // The text in the clipboard, or null where that is not allowed.
  async copied() {
    try {
      return await navigator.clipboard.readText();
    } catch {
      return null;
    }
  }

  async look() {
    if (read(STORED) !== "on") return;
    const text = (await this.copied()) ?? "";
    const link = cleanLink(text);
    if (link === this.last || !link.startsWith("https://")) return;
    this.last = link;
    this.offer(link);
  }
}

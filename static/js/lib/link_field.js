// The field for a link: cleans what is put there, says at once what is wrong with it, and offers links to take.

import { cleanLink, problemOf, warningOf } from "./links.js";
import { keyCap } from "./keymap.js";
import { message, showProblem, showWarning } from "./messages.js";
import { filled, gettext } from "./words.js";

const NOTHING = {
  last: message("no-last", gettext("You have given no other link for this question yet.")),
  copied: message("no-copied", gettext("There is no copied address. Paste it instead.")),
};

// What Enter in the field leads to.
export const thenAnswer = () => message("then-answer", filled(gettext("Now answer with {yes}, {no} or {other}."), { yes: keyCap("y"), no: keyCap("n"), other: keyCap("s") }));

// The same where an answer waits for the link that is there now.
export const thenEnter = (said) => message("then-enter", filled(TOUCH.matches ? gettext("Press {answer} to answer with this link.") : gettext("Enter answers {answer} with this link."), { answer: said }));

const TOUCH = matchMedia("(hover: none) and (pointer: coarse)"); // without a keyboard one pastes into the field

export class LinkField {
  // root: where the field, its error and its offers are; item(): what it is for; changed(): somebody typed; tell(message): why nothing was taken
  constructor(root, item, changed, tell) {
    this.item = item;
    this.tell = tell;
    this.changed = changed;
    this.field = root.querySelector("[data-link-field]");
    this.error = root.querySelector(".field-error");
    this.offers = { last: root.querySelector("[data-last]"), copied: root.querySelector("[data-copied]") };
    this.links = {};
    this.warning = null; // what speaks against the link that is there
    if (TOUCH.matches) this.field.placeholder = this.field.dataset.touch;
    this.field.addEventListener("input", (event) => {
      this.say(null);
      if (event.inputType === "insertFromPaste") this.check();
      changed();
    });
    this.field.addEventListener("change", () => {
      this.check();
      changed();
    });
    for (const name of Object.keys(this.offers)) this.offers[name].addEventListener("click", () => this.take(name));
  }

  get value() {
    return cleanLink(this.field.value);
  }

  set(link) {
    if (this.field.value.trim() !== link) this.field.value = link;
    this.say(null);
  }

  // A link from elsewhere: pasted, or taken from an offer. What is wrong with it is returned.
  put(link) {
    this.set(link);
    const problem = this.check();
    this.changed();
    return problem;
  }

  // Whether a refused link keeps the person in the field, to type another one.
  stays(problem) {
    const is = Boolean(problem) && document.activeElement === this.field;
    if (is) this.field.select();
    return is;
  }

  // Clean what is there; say and return what is wrong, or say what speaks against it.
  check() {
    const item = this.item();
    const link = this.value;
    if (this.field.value !== link) this.field.value = link;
    if (!item || !link) return void this.say(null);
    const problem = problemOf(link, "?", "never", item.sources.map((source) => source.host));
    this.say(problem);
    this.warning = problem ? null : warningOf(link, item.sources);
    if (!problem) showWarning(this.error, this.warning);
    return problem;
  }

  say(problem) {
    this.warning = null;
    showProblem(this.error, problem, this.field);
  }

  // name: last or copied; no link: nothing to offer
  offer(name, link, shown = link) {
    this.links[name] = link;
    this.offers[name].hidden = !link || link === this.value;
    this.offers[name].querySelector("span").textContent = shown ?? "";
  }

  take(name) {
    const link = this.links[name];
    if (!link || (this.offers[name].hidden && link !== this.value)) return this.tell(NOTHING[name]);
    if (this.offers[name].hidden) return;
    this.put(link);
    this.offers[name].hidden = true;
  }
}

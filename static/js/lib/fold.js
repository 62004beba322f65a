// Evidence on a phone: one line, which unfolds over what is beside it while its fields are in use.

export class Fold {
  // root: the view
  constructor(root) {
    this.zone = root.querySelector(".zone-evidence");
    this.button = this.zone.querySelector("[data-fold]");
    this.button.addEventListener("click", () => this.unfold(this.button.getAttribute("aria-expanded") === "false"));
    // what is offered or refused below a field stays under the finger
    root.addEventListener("focusin", ({ target }) => target !== this.button && !target.closest(".below-field") && this.unfold(this.zone.contains(target)));
  }

  unfold(is) {
    this.zone.classList.toggle("unfolded", is);
    this.button.setAttribute("aria-expanded", String(is));
  }

  // A field that is out of sight while folded takes no focus.
  focus(field) {
    this.unfold(true);
    field.focus();
  }
}

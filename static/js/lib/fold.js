// Evidence on a phone: one line, which unfolds over what is beside it while its fields are in use.

export class Fold {
  // root: the view
  constructor(root) {
    this.zone = root.querySelector(".zone-evidence");
    this.button = this.zone.querySelector("[data-fold]");
    this.button.addEventListener("click", () => this.unfold(this.button.getAttribute("aria-expanded") === "false"));
    root.addEventListener("focusin", ({ target }) => !this.stays(target) && this.unfold(this.zone.contains(target)));
  }

  // The field of the link is in sight folded too; what is offered or refused below a field stays under the finger.
  stays(target) {
    return target === this.button || Boolean(target.closest(".link-field, .below-field"));
  }

  unfold(is) {
    this.zone.classList.toggle("unfolded", is);
    this.button.setAttribute("aria-expanded", String(is));
  }

  // A field that is out of sight while folded takes no focus.
  focus(field) {
    if (!this.stays(field)) this.unfold(true);
    field.focus();
  }
}

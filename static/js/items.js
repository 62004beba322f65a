// Items: choose all of a page at once, see how many are chosen, and which acts they allow.
const form = document.querySelector("[data-bulk]");
if (form) {
  const all = form.querySelector("[data-all]");
  const every = all.querySelector("input");
  const told = form.querySelector("[data-chosen]");
  const boxes = [...form.querySelectorAll("input[name=items]")];
  const buttons = [...form.querySelectorAll("button[name=act]")];
  const whys = form.querySelector("[data-whys]");
  const bar = form.querySelector(".selection");
  new ResizeObserver(() => form.style.setProperty("--head-top", `${bar.offsetHeight}px`)).observe(bar); // the table's head sticks below it
  // on a phone the acts and what is not needed to choose are folded
  const opener = form.querySelector("[data-open-acts]");
  const toggle = (button, folded) => {
    const isOpen = folded.classList.toggle("is-open");
    button.setAttribute("aria-expanded", String(isOpen));
    return isOpen;
  };
  form.classList.add("folds");
  opener.hidden = false;
  opener.addEventListener("click", () => toggle(opener, bar));
  for (const more of form.querySelectorAll("[data-more]")) {
    more.hidden = false;
    more.addEventListener("click", () => {
      more.textContent = toggle(more, more.closest("tr")) ? "Less" : "More";
    });
  }
  const show = () => {
    const marked = boxes.filter((box) => box.checked);
    const chosen = marked.length;
    told.textContent = `${chosen} chosen`;
    every.checked = chosen === boxes.length;
    every.indeterminate = chosen > 0 && chosen < boxes.length;
    const allowed = new Set((chosen ? marked : boxes).flatMap((box) => box.dataset.allows.split(" ")));
    const impossible = buttons.filter((button) => !allowed.has(button.value));
    for (const button of buttons) button.disabled = !chosen || impossible.includes(button);
    whys.textContent = impossible.map((button) => button.dataset.why).join(" ");
  };
  all.hidden = false;
  every.addEventListener("change", () => {
    for (const box of boxes) box.checked = every.checked;
    show();
  });
  form.addEventListener("change", show);
  addEventListener("pageshow", show); // the browser may have kept what was chosen
  show();
}

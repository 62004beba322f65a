// Items: choose all of a page at once, and see how many are chosen.
const form = document.querySelector("[data-bulk]");
if (form) {
  const all = form.querySelector("[data-all]");
  const every = all.querySelector("input");
  const told = form.querySelector("[data-chosen]");
  const boxes = [...form.querySelectorAll("input[name=items]")];
  const buttons = form.querySelectorAll("button[name=act]");
  const show = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    told.textContent = `${chosen} chosen`;
    every.checked = chosen === boxes.length;
    every.indeterminate = chosen > 0 && chosen < boxes.length;
    for (const button of buttons) button.disabled = !chosen;
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

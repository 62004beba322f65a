// The annotation page: the same work one by one or by question.

import { One } from "./lib/one.js";
import { Page } from "./lib/page.js";
import { Rows } from "./lib/rows.js";
import { read, write } from "./lib/stored.js";

const VIEW = "triplepool:view";
const form = document.querySelector("[data-why]");
const why = document.getElementById("why");
const page = new Page();

function close() {
  form.hidden = true;
  page.view.focus();
}

const one = new One(page, {
  shown(item, reason) {
    form.hidden = true;
    why.value = reason;
  },
  // can't tell says why first
  check(answer) {
    if (answer !== "?" || (!form.hidden && why.value.trim())) return true;
    form.hidden = false;
    why.focus();
    return false;
  },
  comment: (answer) => (answer === "?" ? why.value.trim() : ""),
  value: () => why.value.trim(),
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  one.give("?");
});
why.addEventListener("keydown", (event) => event.key === "Escape" && close());

const views = { one, group: new Rows(page) };
const buttons = [...document.querySelectorAll("[data-show]")];

function mark(name) {
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.show === name));
}

for (const button of buttons) {
  button.addEventListener("click", () => {
    const name = button.dataset.show;
    mark(name);
    write(VIEW, name);
    page.switchTo(views[name]);
  });
}
const first = read(VIEW) === "group" ? "group" : "one";
mark(first);
page.start(views[first], { acts: { "cancel-why": close } });

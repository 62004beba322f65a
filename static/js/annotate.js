// The annotation page, one question at a time.

import { startPage } from "./lib/page.js";

const form = document.querySelector("[data-why]");
const why = document.getElementById("why");

function close() {
  form.hidden = true;
  document.querySelector("[data-question]").focus();
}

const { give } = startPage({
  show(item, prior) {
    form.hidden = true;
    why.value = prior?.given.comment ?? "";
  },
  // can't tell says why first
  checkAnswer(answer) {
    if (answer !== "?" || (!form.hidden && why.value.trim())) return true;
    form.hidden = false;
    why.focus();
    return false;
  },
  comment: (answer) => (answer === "?" ? why.value.trim() : ""),
  acts: { "cancel-why": close },
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  give("?");
});
why.addEventListener("keydown", (event) => event.key === "Escape" && close());

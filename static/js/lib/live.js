// Parts of a page that htmx renews: an equal part stays; of a new one, what somebody opened, ticked, typed or scrolled.
import { withoutChoices } from "./tables.js";

const secret = "input[name=csrfmiddlewaretoken]"; // differs in every response

function plain(part) {
  const copy = part.cloneNode(true);
  for (const input of copy.querySelectorAll(secret)) input.remove();
  withoutChoices(copy);
  for (const box of copy.querySelectorAll("details")) box.removeAttribute("open");
  for (const one of [copy, ...copy.querySelectorAll("[class*=htmx-]")]) {
    one.classList.remove("htmx-request", "htmx-settling", "htmx-swapping");
    if (!one.className) one.removeAttribute("class");
  }
  return copy;
}

const same = (one, other) => plain(one).isEqualNode(plain(other));
const isBox = (part) => part.type === "checkbox" || part.type === "radio";
const isTyped = (part) => part.matches("input:not([type=hidden]), textarea, select");

function stateOf(part) {
  const state = { id: part.id, open: part.open, scrollTop: part.scrollTop, scrollLeft: part.scrollLeft };
  if (isTyped(part)) Object.assign(state, isBox(part) ? { checked: part.checked } : { value: part.value });
  return state;
}

function give(part, { open, checked, value, scrollTop, scrollLeft }) {
  if (open !== undefined) part.open = open;
  if (checked !== undefined) part.checked = checked;
  if (value !== undefined) part.value = value;
  Object.assign(part, { scrollTop, scrollLeft });
}

let before = [];
let renewing = ""; // the id of the live part that is replaced
let focused = null; // the address of the link that has the focus: htmx itself finds only what has an id

document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr } = event.detail;
  if (!target.id || !target.hasAttribute("hx-trigger")) return;
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  if (!page.getElementById(target.id)) { // the work is over, and with it the part that showed it
    event.detail.shouldSwap = false;
    if (xhr.status === 200) location.replace(location.href);
    return;
  }
  const parts = [target.id, "page-state", "page-actions"].map((id) => [document.getElementById(id), page.getElementById(id)]);
  if (parts.every(([now, then]) => !now || !then || same(now, then))) {
    event.detail.shouldSwap = false;
    return;
  }
  renewing = target.id;
  before = [...target.querySelectorAll("[id]")].map(stateOf);
  const link = document.activeElement?.closest("a[href]");
  focused = link && !link.id && target.contains(link) ? link.getAttribute("href") : null;
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  for (const state of before) {
    const part = document.getElementById(state.id);
    if (part) give(part, state);
  }
  before = [];
  if (focused) document.getElementById(detail.target.id)?.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
  focused = null;
  if (!renewing) return; // another part of the page, such as a preview
  if (!document.getElementById(renewing)?.hasAttribute("hx-trigger")) dropQueued();
  renewing = "";
  yieldPrimary();
  document.dispatchEvent(new Event("live:renewed"));
});

// One primary button: a marked one is plain while the actions on top, which are renewed too, have one.
function yieldPrimary() {
  const isOnTop = Boolean(document.querySelector("#page-actions .button-primary"));
  for (const button of document.querySelectorAll("[data-yields]")) {
    button.classList.toggle("button", isOnTop);
    button.classList.toggle("button-primary", !isOnTop);
  }
}

function dropQueued() { // "Training was queued": the part shows by now that it is over
  for (const told of document.querySelectorAll("[data-until-done]")) told.remove();
  for (const list of document.querySelectorAll(".messages")) if (!list.children.length) list.remove();
}

// The open-world page: sliders beside their numbers; the figures follow, and the address holds what they show.
import { again } from "./lib/charts.js";
import { message, show as tell } from "./lib/messages.js";
import { makeSortable } from "./lib/sortable.js";

const WAIT_MS = 250;
const AWAY = message("away", "The server does not answer; the figures are those of before.");
const form = document.getElementById("world-form");
const holder = document.getElementById("world");
let waiting = null;
let asked = null;

function sortTables() {
  holder.querySelectorAll("table[data-sortable]").forEach(makeSortable);
}

function sliderOf(number) {
  return form.querySelector(`[data-of="${number.name}"]`);
}

// What was asked for before and has not come yet is not waited for.
async function refresh() {
  asked?.abort();
  asked = new AbortController();
  const query = new URLSearchParams(new FormData(form));
  holder.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(`${location.pathname}?${query}&part=figures`, { headers: { Accept: "text/html" }, signal: asked.signal });
    if (response.redirected || !response.ok) return location.reload();
    show(await response.text());
    history.replaceState(null, "", `?${query}`);
  } catch (error) {
    if (error.name === "AbortError") return;
    tell(document.getElementById("world-said"), AWAY);
  }
  holder.removeAttribute("aria-busy");
}

// Replaces the figures where they stand: what is open stays open.
function show(html) {
  const open = [...holder.querySelectorAll("section details[open]")].map((details) => details.closest("section").id);
  holder.innerHTML = html;
  for (const id of open) for (const details of document.getElementById(id)?.querySelectorAll("details") ?? []) details.open = true;
  const { rho } = holder.firstElementChild.dataset;
  document.getElementById("rho-range").textContent = rho ? `From ${rho} with these β and ℓ.` : "";
  sortTables();
  again();
}

function changed(event) {
  const number = event.target.dataset.of ? form.elements[event.target.dataset.of] : event.target;
  if (number !== event.target) number.value = event.target.value;
  else if (number.type === "number") sliderOf(number).value = number.value;
  clearTimeout(waiting);
  if (form.checkValidity()) waiting = setTimeout(refresh, WAIT_MS);
}

for (const slider of form.querySelectorAll("[data-of]")) {
  slider.value = form.elements[slider.dataset.of].value; // a browser brings back what was typed
  slider.hidden = false;
}
form.addEventListener("input", changed);
form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); if (form.reportValidity()) refresh(); });
sortTables();

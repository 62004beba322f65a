// The evaluation pages: sort their tables, and follow the labels as they come.
import { again } from "./lib/charts.js";
import { makeSortable, sortAs, sortOf } from "./lib/sortable.js";

const EVERY_MS = 1000, SOON_MS = 200, LIVELY_MS = 60_000, SAID_AFTER_MS = 400;
const holder = document.getElementById("figures");

// Replaces the figures where they stand: what is open stays open, what has the focus keeps it, nothing scrolls.
async function refresh() {
  const said = setTimeout(sayOlder, SAID_AFTER_MS);
  const response = await fetch(holder.dataset.figuresUrl, { headers: { Accept: "text/html" } }).finally(() => clearTimeout(said));
  if (response.status === 400) location.reload(); // what is asked for is not there any more: the page says why
  if (!response.ok) return;
  const sorted = [...holder.querySelectorAll("table[data-sortable]")].map(sortOf);
  const open = [...holder.querySelectorAll("details")].map((details) => details.open);
  const focused = document.activeElement?.id;
  holder.innerHTML = await response.text();
  holder.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? false; });
  window.htmx?.process(holder);
  holder.querySelectorAll("table[data-sortable]").forEach((table, i) => { makeSortable(table, i); sortAs(table, sorted[i]); });
  again();
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  const target = comesLater && unfold(location.hash);
  if (target) {
    comesLater = false;
    target.scrollIntoView();
  }
}

// Newer figures take a while: until they are here, the page says what the shown ones rest on.
function sayOlder() {
  const { basis } = holder.firstElementChild.dataset;
  if (!basis || document.getElementById("older")) return;
  const note = Object.assign(document.createElement("p"), { id: "older", className: "notice", textContent: `These figures are of ${basis}. Newer ones are being computed.` });
  note.setAttribute("role", "status");
  holder.firstElementChild.prepend(note);
}

let changed = -Infinity; // when the labels were last seen to have changed

async function follow() {
  if (document.visibilityState === "visible") {
    try {
      const response = await fetch(holder.dataset.versionUrl, { headers: { Accept: "application/json" } });
      if (response.ok) {
        const { version } = await response.json();
        if (version !== holder.firstElementChild.dataset.version) {
          changed = performance.now();
          await refresh();
        }
      }
    } catch { /* the server is away for a moment: ask again */ }
  }
  setTimeout(follow, performance.now() - changed < LIVELY_MS ? SOON_MS : EVERY_MS); // while labels come in, the next one is near
}

// Back brings the page as it was left; the form has to say what the page shows.
window.addEventListener("pageshow", () => document.querySelector("form.settings")?.reset());

// The field of a time is there only for labels as of a time.
for (const select of document.querySelectorAll("form.settings select[name=labels], form.settings select[name=against]")) {
  const time = select.form.elements[`${select.name}_until`];
  select.addEventListener("change", () => { time.classList.toggle("until-off", select.value !== "until"); if (select.value === "until") time.focus(); });
}

// A link to a folded section opens it. Returns what it leads to, or null.
function unfold(hash) {
  const target = document.getElementById(decodeURIComponent(hash.slice(1)));
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  return target;
}
addEventListener("hashchange", () => { unfold(location.hash); comesLater = false; });
document.addEventListener("click", (event) => { const link = event.target.closest('a[href^="#"]'); if (link) unfold(link.hash); });
let comesLater = location.hash.length > 1 && !unfold(location.hash); // with the figures that are being computed
addEventListener("scroll", () => { comesLater = false; }, { once: true }); // who scrolls meanwhile is not moved

if (holder) {
  holder.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  setTimeout(follow, EVERY_MS);
}

// The frame of managers and researchers: parts that renew themselves, counts that ask for action, kept up to date, and
// the current page in sight in the sidebar.
import "./lib/live.js";

const COUNTS_EVERY = 30_000;

async function showCounts() {
  const places = [...document.querySelectorAll("[data-count]")];
  const address = document.querySelector("[data-counts]")?.dataset.counts ?? "/attention";
  if (!places.length || document.hidden) return;
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } });
    if (!response.ok) return;
    const counts = await response.json();
    for (const place of places) {
      const count = place.dataset.count.trim().split(" ").reduce((sum, name) => sum + (counts[name] ?? 0), 0); // of a closed entry: of all its pages
      place.textContent = count.toLocaleString("en");
      place.hidden = count === 0;
    }
  } catch { /* the next time may work */ }
}
showCounts();
setInterval(showCounts, COUNTS_EVERY);
document.addEventListener("visibilitychange", showCounts);
document.addEventListener("live:renewed", showCounts); // work that began or ended changes them

// A form that was refused shows its first problem; what was done is told on top, wherever the address points.
function showOutcome() {
  const wrong = document.querySelector("main [aria-invalid=true]"), told = document.querySelector("main .messages");
  if (wrong) (wrong.matches("input, select, textarea") ? wrong : wrong.querySelector("input") ?? wrong).focus();
  else if (told && location.hash) told.scrollIntoView({ block: "center" });
}
addEventListener("load", showOutcome);

const sidebar = document.querySelector("#sidebar");

function showCurrent() {
  const link = sidebar.querySelector("[aria-current=page]");
  if (!link) return;
  const place = link.getBoundingClientRect();
  const low = Math.min(sidebar.getBoundingClientRect().bottom, innerHeight) - place.height;
  if (place.top > low) sidebar.scrollTop += place.top - low / 2; // not scrollIntoView: it would move the page too
}
if (sidebar) {
  showCurrent();
  sidebar.addEventListener("toggle", (event) => { if (event.target === sidebar) showCurrent(); }); // the drawer opens
}

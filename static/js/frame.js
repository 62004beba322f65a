// The frame: parts that renew themselves, counts that ask for action, kept up to date, and the search that Ctrl+K opens.
import "./lib/live.js";

const COUNTS_EVERY = 30_000;
const dialog = document.querySelector("#search");
const opener = document.querySelector("[data-search]");

async function showCounts() {
  const places = [...document.querySelectorAll("[data-count]")];
  const address = document.querySelector("[data-counts]")?.dataset.counts ?? "/attention";
  if (!places.length || document.hidden) return;
  try {
    const response = await fetch(address, { headers: { Accept: "application/json" } });
    if (!response.ok) return;
    const counts = await response.json();
    for (const place of places) {
      const count = counts[place.dataset.count] ?? 0;
      place.textContent = count.toLocaleString("en");
      place.hidden = count === 0;
    }
  } catch { /* the next time may work */ }
}
showCounts();
setInterval(showCounts, COUNTS_EVERY);
document.addEventListener("visibilitychange", showCounts);

async function load(text, signal) {
  const address = new URL(opener.href);
  address.searchParams.set("part", "1");
  address.searchParams.set("q", text);
  const response = await fetch(address, { signal });
  return response.ok ? response.text() : "";
}

async function openSearch() {
  if (dialog.open) return;
  dialog.innerHTML = await load("");
  dialog.showModal();
  const input = dialog.querySelector("input[type=search]");
  input.focus();
  let waiting = null;
  input.addEventListener("input", async () => {
    waiting?.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    try {
      await new Promise((resolve) => setTimeout(resolve, 120));
      if (signal.aborted) return;
      const page = new DOMParser().parseFromString(await load(input.value, signal), "text/html");
      dialog.querySelector("[data-found]").replaceWith(page.querySelector("[data-found]"));
    } catch (error) {
      if (error.name !== "AbortError") throw error;
    }
  });
  dialog.querySelector("form").addEventListener("submit", (event) => {
    const first = dialog.querySelector("[data-found] a");
    if (first) { event.preventDefault(); location.assign(first.href); }
  });
}

function move(step) {
  const stops = [dialog.querySelector("input[type=search]"), ...dialog.querySelectorAll("[data-found] a")];
  const at = stops.indexOf(document.activeElement);
  stops[(at + step + stops.length) % stops.length].focus();
}

if (dialog && opener) {
  opener.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openSearch();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openSearch(); }
    if (!dialog.open || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

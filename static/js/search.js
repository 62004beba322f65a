// The search that Ctrl+K and every link to it open in a dialog. Escape closes it with one press.
const dialog = document.querySelector("#search");
const opener = document.querySelector("[data-search]");
let found = Promise.resolve(); // what was typed last

async function load(text, signal) {
  const address = new URL(opener.href);
  address.searchParams.set("part", "1");
  address.searchParams.set("q", text);
  const response = await fetch(address, { signal });
  if (!response.ok || response.redirected) throw new TypeError("no answer"); // redirected: signed out meanwhile
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

function told(text) {
  const line = document.createElement("p");
  line.className = "muted";
  line.textContent = text;
  return line;
}

async function openSearch() {
  if (dialog.open) return;
  const before = document.activeElement;
  dialog.replaceChildren();
  dialog.showModal();
  dialog.addEventListener("close", () => {
    const menu = document.querySelector(".menu-button"); // what was in the menu of a phone is out of sight now
    (before.checkVisibility() ? before : menu).focus();
  }, { once: true });
  try {
    dialog.replaceChildren(...(await load("")).body.children);
  } catch {
    dialog.replaceChildren(told(dialog.dataset.failed));
    return;
  }
  const input = dialog.querySelector("input[type=search]");
  input.focus();
  let waiting = null;
  input.addEventListener("input", () => {
    waiting?.abort();
    waiting = new AbortController();
    found = find(input.value, waiting.signal);
  });
  dialog.querySelector("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    await found;
    const first = dialog.querySelector("[data-found] a");
    if (first) location.assign(first.href);
  });
}

async function find(text, signal) {
  await new Promise((resolve) => setTimeout(resolve, 120));
  if (signal.aborted) return;
  const place = dialog.querySelector("[data-found]");
  try {
    place.replaceWith((await load(text, signal)).querySelector("[data-found]"));
  } catch (error) {
    if (error.name !== "AbortError") place.replaceChildren(told(dialog.dataset.failed));
  }
}

async function move(step) {
  await found; // else what has the focus is replaced a moment later
  const stops = [dialog.querySelector("input[type=search]"), ...dialog.querySelectorAll("[data-found] a")];
  const at = stops.indexOf(document.activeElement);
  stops[(at + step + stops.length) % stops.length].focus();
}

if (dialog && opener) {
  for (const link of document.querySelectorAll("[data-search]")) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      openSearch();
    });
  }
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); openSearch(); }
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.isComposing) { event.preventDefault(); dialog.close(); } // else it clears the text
    if (!["ArrowDown", "ArrowUp"].includes(event.key)) return;
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

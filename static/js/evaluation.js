// The evaluation pages: draw their charts, sort their tables, and follow the labels as they come.
import { draw, highlight, save } from "./lib/charts.js";
import "./lib/grid_charts.js";
import { makeSortable, sortAs, sortOf } from "./lib/sortable.js";

const EVERY_MS = 1000;
const holder = document.getElementById("figures");
let highlighted = null;

let charts = {}; // by key, as the page brought them

function chartElements() {
  return [...holder.querySelectorAll("[data-chart]")];
}

function toggle(system) {
  highlighted = system === highlighted ? null : system;
  highlight(chartElements(), highlighted);
}

function drawAll() {
  holder.querySelectorAll("table[data-sortable]").forEach(makeSortable);
  const script = document.getElementById("chart-data");
  if (!script || !window.Plotly) return;
  charts = Object.fromEntries(JSON.parse(script.textContent).map((chart) => [chart.key, chart]));
  for (const element of chartElements()) {
    const chart = charts[element.dataset.chart];
    if (!chart) continue;
    draw(element, chart);
    element.removeAllListeners("plotly_click");
    element.removeAllListeners("plotly_legendclick");
    element.on("plotly_click", ({ points }) => toggleOf(points[0]?.data.meta));
    element.on("plotly_legendclick", ({ curveNumber }) => { toggleOf(element.data[curveNumber].meta); return false; });
  }
  if (highlighted !== null) highlight(chartElements(), highlighted);
  for (const line of holder.querySelectorAll("[data-downloads]")) line.hidden = false;
}

function toggleOf(system) {
  if (system !== undefined && system !== null) toggle(system);
}

// Replaces the figures where they stand: what is open stays open, what has the focus keeps it, nothing scrolls.
async function refresh() {
  const response = await fetch(holder.dataset.figuresUrl, { headers: { Accept: "text/html" } });
  if (response.status === 400) location.reload(); // what is asked for is not there any more: the page says why
  if (!response.ok) return;
  const sorted = [...holder.querySelectorAll("table[data-sortable]")].map(sortOf);
  const open = [...holder.querySelectorAll("details")].map((details) => details.open);
  const focused = document.activeElement?.id;
  holder.innerHTML = await response.text();
  holder.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? false; });
  window.htmx?.process(holder);
  drawAll();
  holder.querySelectorAll("table[data-sortable]").forEach((table, i) => sortAs(table, sorted[i]));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

async function follow() {
  if (document.visibilityState === "visible") {
    try {
      const response = await fetch(holder.dataset.versionUrl, { headers: { Accept: "application/json" } });
      if (response.ok) {
        const { version } = await response.json();
        if (version !== holder.firstElementChild.dataset.version) await refresh();
      }
    } catch { /* the server is away for a moment: ask again */ }
  }
  setTimeout(follow, EVERY_MS);
}

function downloadClicked(event) {
  const button = event.target.closest("[data-format]");
  if (!button) return;
  const key = button.closest("[data-downloads]").dataset.downloads;
  save(charts[key], button.dataset.format, `${document.title.split(" · ")[0]} ${key}`.replaceAll(/[^\w-]+/g, "-"));
}

// Back brings the page as it was left; the form has to say what the page shows.
window.addEventListener("pageshow", () => document.querySelector("form.settings")?.reset());

// The field of a time is there only for labels as of a time.
for (const select of document.querySelectorAll("form.settings select[name=labels], form.settings select[name=against]")) {
  const time = select.form.elements[`${select.name}_until`];
  select.addEventListener("change", () => { time.classList.toggle("until-off", select.value !== "until"); if (select.value === "until") time.focus(); });
}

if (holder) {
  drawAll();
  document.addEventListener("themechange", drawAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  holder.addEventListener("click", downloadClicked);
  setTimeout(follow, EVERY_MS);
}

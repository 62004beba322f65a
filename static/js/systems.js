// Systems: tables that sort and, side by side, their curves with one key for both charts.
import { draw, highlight, save, variable } from "./lib/charts.js";
import { makeSortable } from "./lib/sortable.js";

const COLOURS = 8;
const DASHES = ["", "6 4", "2 3", "6 3 2 3", "10 4", "10 3 2 3"]; // as the charts have them, in the same order
const holder = document.getElementById("compared");
const script = document.getElementById("chart-data");
const charts = script ? Object.fromEntries(JSON.parse(script.textContent).map((chart) => [chart.key, chart])) : {};
const elements = [...document.querySelectorAll("[data-chart]")];
const keys = [...document.querySelectorAll("[data-system]")];
let highlighted = null;

function show(system) {
  highlighted = system;
  for (const key of keys) key.setAttribute("aria-pressed", String(Number(key.dataset.system) === system));
  highlight(elements, system);
}

function toggle(system) {
  if (system !== undefined && system !== null) show(system === highlighted ? null : system);
}

function drawAll() {
  for (const line of document.querySelectorAll("[data-series]")) {
    line.style.stroke = variable(`--series-${(Number(line.dataset.series) % COLOURS) + 1}`);
    line.style.strokeDasharray = DASHES[Number(line.dataset.series) % DASHES.length];
  }
  if (!window.Plotly) return;
  for (const element of elements) {
    draw(element, charts[element.dataset.chart]);
    window.Plotly.relayout(element, { showlegend: false }); // the key above is that of all charts
    element.removeAllListeners("plotly_click");
    element.on("plotly_click", ({ points }) => toggle(points[0]?.data.meta));
  }
  if (highlighted !== null) show(highlighted);
  for (const line of document.querySelectorAll("[data-downloads]")) line.hidden = false;
}

function clicked(event) {
  const key = event.target.closest("[data-system]");
  if (key) toggle(Number(key.dataset.system));
  const button = event.target.closest("[data-format]");
  if (!button) return;
  const name = button.closest("[data-downloads]").dataset.downloads;
  save(charts[name], button.dataset.format, `${document.title.split(" · ")[0]} ${name}`.replaceAll(/[^\w-]+/g, "-"));
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
if (holder) {
  drawAll();
  document.addEventListener("themechange", drawAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  holder.addEventListener("click", clicked);
}

// Charts of the pool pages: drawn from what the page brought, again when the theme changes, saved as a file.
import { draw, save } from "./lib/charts.js";
import { makeSortable } from "./lib/sortable.js";

const script = document.getElementById("chart-data");
const charts = script ? Object.fromEntries(JSON.parse(script.textContent).map((chart) => [chart.key, chart])) : {};

function drawAll() {
  if (!window.Plotly) return;
  for (const element of document.querySelectorAll("[data-chart]")) draw(element, charts[element.dataset.chart]);
  for (const line of document.querySelectorAll("[data-downloads]")) line.hidden = false;
}

document.querySelectorAll("table[data-sortable]").forEach(makeSortable);
drawAll();
document.addEventListener("themechange", drawAll);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-format]");
  if (!button) return;
  const name = button.closest("[data-downloads]").dataset.downloads;
  save(charts[name], button.dataset.format, `${document.title.split(" · ")[0]} ${name}`.replaceAll(/[^\w-]+/g, "-"));
});

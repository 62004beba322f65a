// The evaluation overview: draws its charts, and follows the labels as they come.
import { draw, series, variable } from "./lib/charts.js";

const EVERY_MS = 1000;
const holder = document.getElementById("figures");

const charts = {
  depth(element, data, labels) {
    const traces = Object.entries(data.tau_to_seeds).map(([name, tau], i) => ({
      x: data.depths, y: tau, name: labels[name], mode: "lines+markers", line: series(i), marker: { size: 5 },
    }));
    draw(element, traces, { x: "pool depth (0: seeds only)", y: "tau against the seeds", xaxis: { dtick: 1 }, yaxis: { range: [-1.05, 1.05] } });
  },
  stability(element, data, labels) {
    if (!data) return;
    const percent = (size) => Math.round(size * 100);
    const traces = [];
    Object.entries(data.mean).forEach(([name, mean], i) => {
      traces.push({
        x: data.sizes.map(percent), y: mean, name: labels[name], legendgroup: name, mode: "lines+markers", line: series(i), marker: { size: 4 },
        error_y: { type: "data", array: data.sd[name], thickness: 1, width: 0, color: series(i).color },
      });
      traces.push({
        x: data.half_sizes.map(percent), y: data.half_mean[name], name: `${labels[name]}, disjoint`, legendgroup: name, showlegend: false,
        mode: "lines", line: { ...series(i), dash: "dot", width: 1 }, hoverinfo: "skip",
      });
    });
    draw(element, traces, { x: "size of the subset, % of the positive triples", y: "tau against all", yaxis: { range: [-0.55, 1.05] } });
  },
  tests(element, data, labels) {
    const traces = Object.entries(data.measures).map(([name, row], i) => ({
      x: row.curve.map((_, pair) => pair + 1), y: row.curve, name: labels[name], mode: "lines+markers", line: series(i), marker: { size: 4 },
    }));
    const pairs = Math.max(1, ...traces.map((trace) => trace.x.length));
    traces.push({ x: [1, pairs], y: [data.alpha, data.alpha], name: `p = ${data.alpha}`, mode: "lines", line: { color: variable("--muted"), width: 1 }, hoverinfo: "skip" });
    draw(element, traces, { x: "pairs of systems, largest p first", y: "p-value", yaxis: { range: [-0.02, 1.02] } });
  },
};

function drawAll() {
  const script = document.getElementById("chart-data");
  if (!script || !window.Plotly) return;
  const data = JSON.parse(script.textContent);
  for (const element of holder.querySelectorAll("[data-chart]")) {
    charts[element.dataset.chart](element, data[element.dataset.chart], data.labels);
  }
}

// Replaces the figures where they stand: what is open stays open, what has the focus keeps it, nothing scrolls.
async function refresh() {
  const response = await fetch(holder.dataset.figuresUrl, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const open = [...holder.querySelectorAll("details")].map((details) => details.open);
  const focused = document.activeElement?.id;
  holder.innerHTML = await response.text();
  holder.querySelectorAll("details").forEach((details, i) => { details.open = open[i] ?? false; });
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  drawAll();
}

async function follow() {
  if (document.visibilityState === "visible" && document.activeElement?.tagName !== "SELECT") {
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

if (holder) {
  drawAll();
  document.addEventListener("themechange", drawAll);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  setTimeout(follow, EVERY_MS);
}

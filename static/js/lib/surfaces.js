// The 3-D surfaces of systems over two parameters. Plotly and the numbers come when a surface is opened, not before.
import { message, show } from "./messages.js";

const NO_WEBGL = message("no-webgl", "This browser has no WebGL, which surfaces need. The maps have the same numbers.");
const AWAY = message("no-surface", "The surface could not be loaded. Try again in a moment.");
const VENDOR = new URL("../../vendor/plotly.min.js", import.meta.url).href;
const STYLE = new URL("../../css/plotly.css", import.meta.url).href;
const NARROW = 600;
let opened = null; // {view, key, chosen}; the view keeps its camera while the page follows the labels

function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Plotly would add style elements of its own, which our policy refuses, unless their ids are taken.
function loadPlotly() {
  if (window.Plotly) return Promise.resolve();
  const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: STYLE, id: "plotly.js-style-global", className: "no-inline-styles" });
  const meta = Object.assign(document.createElement("meta"), { id: "9f215cf04c5486422605d13261cb87401f4e7763b6296af81e98efbc0130da53", name: "plotly-map-styles", content: "none" });
  const script = Object.assign(document.createElement("script"), { src: VENDOR });
  return new Promise((done, failed) => {
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.head.append(style, meta, script);
  });
}

async function dataOf(button) {
  const response = await fetch(button.dataset.source, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error(String(response.status));
  const { parts } = await response.json();
  return parts.flatMap((part) => part.sections).find((section) => section.key === button.dataset.surface).chart.data;
}

// The name of a system as the maps of the page write it.
function shownName(one) {
  return document.querySelector(`[data-chart="${opened.key}"] [data-mark="${one.system}"][data-name]`)?.dataset.name ?? one.name;
}

export async function open(button) {
  if (!document.createElement("canvas").getContext("webgl")) return tell(button, NO_WEBGL);
  button.disabled = true;
  try {
    const [data] = await Promise.all([dataOf(button), loadPlotly()]);
    const view = document.createElement("div");
    view.className = "chart-3d";
    view.dataset.view = button.dataset.surface;
    opened = { view, data, key: button.dataset.surface, chosen: new Set(data.shown.map((i) => data.systems[i].name)) };
    place(button);
    document.addEventListener("themechange", draw);
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  } catch {
    button.disabled = false;
    tell(button, AWAY);
  }
}

function tell(button, words) {
  const said = button.parentElement.querySelector("[role=status]") ?? button.parentElement.appendChild(Object.assign(document.createElement("span"), { role: "status" }));
  show(said, words);
}

// Puts the view and the boxes of its systems above the maps, in place of the button.
function place(button) {
  const boxes = document.createElement("fieldset");
  boxes.className = "chart-choice";
  boxes.append(Object.assign(document.createElement("legend"), { textContent: "Systems drawn as surfaces" }));
  for (const one of opened.data.systems) {
    const label = boxes.appendChild(document.createElement("label"));
    const input = label.appendChild(Object.assign(document.createElement("input"), { type: "checkbox", checked: opened.chosen.has(one.name) }));
    const swatch = label.appendChild(document.createElement("span"));
    swatch.className = `swatch series-${(one.system % 8) + 1}`;
    label.append(shownName(one));
    input.addEventListener("change", () => { opened.chosen[input.checked ? "add" : "delete"](one.name); draw(); });
  }
  button.closest("figure").prepend(boxes, opened.view);
  button.parentElement.hidden = true;
  draw();
}

// The figures were replaced: the view goes to its new place with the new numbers.
export async function reopen() {
  const button = opened && document.querySelector(`[data-surface="${opened.key}"]`);
  if (!button) return;
  try {
    opened.data = await dataOf(button);
    place(button);
  } catch { /* the button is there, and opens it anew */ }
}

function draw() {
  const { view, data, chosen } = opened;
  const grid = (values) => ({ show: true, color: variable("--control"), width: 1, start: values[0], end: values.at(-1), size: (values.at(-1) - values[0]) / 8, highlight: false });
  const traces = data.systems.filter((one) => chosen.has(one.name)).map((one) => {
    const colour = variable(`--series-${(one.system % 8) + 1}`);
    return {
      type: "surface", x: data.x, y: data.y, z: one.z, name: shownName(one), showscale: false, colorscale: [[0, colour], [1, colour]],
      contours: { x: grid(data.x), y: grid(data.y), z: { highlight: false } }, lighting: { ambient: 0.75, diffuse: 0.5, specular: 0.05 },
      hovertemplate: `${shownName(one)}<br>${data.names.x} %{x}, ${data.names.y} %{y}<br>${data.names.z} %{z:.4f}<extra></extra>`,
    };
  });
  const axis = (text) => ({ title: { text }, gridcolor: variable("--line"), zerolinecolor: variable("--line"), linecolor: variable("--control"), color: variable("--text"), showbackground: false, showspikes: false });
  const far = view.clientWidth < NARROW ? 1.4 : 0.95;
  const layout = {
    margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)", uirevision: "camera", showlegend: false, font: { family: variable("--font"), size: 13, color: variable("--text") },
    hoverlabel: { bgcolor: variable("--surface"), bordercolor: variable("--line"), font: { color: variable("--text") } },
    scene: { xaxis: axis(data.names.x), yaxis: axis(data.names.y), zaxis: axis(data.names.z), camera: { eye: { x: 0.9 * far, y: -1.9 * far, z: 0.8 * far }, center: { x: 0, y: 0, z: -0.15 } } },
  };
  window.Plotly.react(view, traces, layout, { displayModeBar: false, responsive: true });
}

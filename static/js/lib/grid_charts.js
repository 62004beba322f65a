// Charts over a grid of two parameters: the map of who is best where, and a surface for each of some systems.
import { draw, kinds, layout, look, translucent, variable } from "./charts.js";
import { message, show } from "./messages.js";

const NO_WEBGL = message("no-webgl", "This browser has no WebGL, which surfaces need: each system is a map instead, with the same numbers.");
const NARROW = 600;
const DRAWN = { xgap: 0.01, ygap: 0.01 }; // cell by cell: a heat map without gaps gets a style attribute, which our policy refuses

function flat(colour) {
  return [[0, colour], [1, colour]];
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

// x, y: the grid; best: [y][x] the index of a system, -1 where several tie; lead: [y][x]; regions: [{system, name, share,
// label: {x, y} or null}]; points: [{name, x, y}] that are marked; names: {x, y}
kinds.winners = (element, data) => {
  const traces = data.regions.map((region) => {
    const colour = region.system === null ? variable("--control") : look(region).color;
    const mine = data.best.map((row) => row.map((best) => (best === (region.system ?? -1) ? 1 : null)));
    return {
      type: "heatmap", x: data.x, y: data.y, z: mine, colorscale: flat(colour), showscale: false, name: region.name, meta: region.system ?? undefined, hoverongaps: false, ...DRAWN,
      customdata: data.lead, hovertemplate: `${region.name}<br>${data.names.x} %{x}, ${data.names.y} %{y}<br>ahead by %{customdata:.4f}<extra></extra>`,
    };
  });
  traces.push(...data.regions.map((region) => ({ // the legend
    x: [null], y: [null], mode: "markers", name: `${region.name}, ${percent(region.share)}`, meta: region.system ?? undefined,
    marker: { symbol: "square", size: 12, color: region.system === null ? variable("--control") : look(region).color },
  })));
  traces.push({
    x: data.points.map((point) => point.x), y: data.points.map((point) => point.y), mode: "markers", cliponaxis: false, showlegend: false, hoverinfo: "skip",
    marker: { symbol: "circle", size: 11, color: variable("--text"), line: { color: variable("--surface"), width: 2 } },
  });
  const notes = data.regions.filter((region) => region.label).map((region) => note(region.name, region.label, {}));
  const marks = data.points.map((point) => note(point.name, point, { yshift: 18 }));
  return [traces, layout(element, {}, {
    annotations: [...notes, ...marks],
    xaxis: { title: { text: data.names.x }, range: around(data.x), showgrid: false, zeroline: false, automargin: true },
    yaxis: { title: { text: data.names.y }, range: around(data.y), showgrid: false, zeroline: false, automargin: true },
  })];
};

// The range of an axis whose cells have their middle at these values.
function around(values) {
  const half = (values[1] - values[0]) / 2;
  return [values[0] - half, values.at(-1) + half];
}

function note(text, at, more) {
  return {
    text, x: at.x, y: at.y, showarrow: false, bgcolor: variable("--surface"), borderpad: 3, font: { color: variable("--text"), size: 12 }, ...more,
  };
}

// x, y: the grid; systems: [{name, system, z: [y][x]}]; shown: indices of those drawn at first; names: {x, y, z}
kinds.surfaces = (element, data) => {
  chosen ??= new Set(data.shown.map((i) => data.systems[i].name));
  const systems = data.systems.filter((one) => chosen.has(one.name));
  offer(element, data);
  if (has3d()) return [surfaces(data, systems), scene(element, data)];
  return maps(element, data, systems);
};

let chosen = null; // names; they stay while the page follows the labels

// A box for each system above the chart. A sheet for a file has no place for them.
function offer(element, data) {
  const before = element.previousElementSibling;
  if (!element.parentElement || before?.matches(".chart-choice")) return;
  const box = document.createElement("fieldset");
  box.className = "chart-choice";
  const legend = box.appendChild(document.createElement("legend"));
  legend.textContent = "Systems that are drawn";
  legend.className = "visually-hidden";
  for (const one of data.systems) {
    const label = box.appendChild(document.createElement("label"));
    const input = label.appendChild(document.createElement("input"));
    Object.assign(input, { type: "checkbox", checked: chosen.has(one.name) });
    const swatch = label.appendChild(document.createElement("span"));
    swatch.className = `swatch series-${(one.system % 8) + 1}`;
    label.append(one.name);
    input.addEventListener("change", () => {
      chosen[input.checked ? "add" : "delete"](one.name);
      draw(element, { kind: "surfaces", data });
    });
  }
  element.before(box);
  if (has3d()) return;
  const said = document.createElement("p");
  said.className = "muted small";
  show(said, NO_WEBGL);
  box.before(said);
}

let webgl = null;

function has3d() {
  webgl ??= Boolean(document.createElement("canvas").getContext("webgl"));
  return webgl;
}

function surfaces(data, systems) {
  return systems.map((one) => {
    const grid = (values) => ({ show: true, color: translucent(variable("--text"), 0.35), width: 1, start: values[0], end: values.at(-1), size: (values.at(-1) - values[0]) / 8, highlight: false });
    return {
      type: "surface", x: data.x, y: data.y, z: one.z, name: one.name, meta: one.system, showscale: false, colorscale: flat(look(one).color),
      contours: { x: grid(data.x), y: grid(data.y), z: { highlight: false } }, lighting: { ambient: 0.75, diffuse: 0.5, specular: 0.05 },
      hovertemplate: `${one.name}<br>${data.names.x} %{x}, ${data.names.y} %{y}<br>${data.names.z} %{z:.4f}<extra></extra>`,
    };
  });
}

function scene(element, data) {
  const axis = (title) => ({
    title: { text: title }, gridcolor: variable("--line"), zerolinecolor: variable("--line"), linecolor: variable("--control"), color: variable("--text"), showbackground: false, showspikes: false,
  });
  const far = element.clientWidth < NARROW ? 1.4 : 0.95;
  return layout(element, {}, {
    margin: { l: 0, r: 0, t: 0, b: 0 }, uirevision: "camera", showlegend: false,
    scene: { xaxis: axis(data.names.x), yaxis: axis(data.names.y), zaxis: axis(data.names.z), camera: { eye: { x: 0.9 * far, y: -1.9 * far, z: 0.8 * far }, center: { x: 0, y: 0, z: -0.15 } } },
  });
}

// Without WebGL: a map for each system, all on one scale.
function maps(element, data, systems) {
  const columns = element.clientWidth < NARROW ? 1 : Math.min(3, Math.max(1, systems.length));
  const rows = Math.max(1, Math.ceil(systems.length / columns));
  const height = 60 + 300 * rows;
  const axisOf = (i) => (i ? i + 1 : ""); // Plotly calls the first one x, the next one x2
  element.style.height = `${height}px`;
  const values = systems.flatMap((one) => one.z.flat());
  const traces = systems.map((one, i) => ({
    type: "heatmap", x: data.x, y: data.y, z: one.z, name: one.name, meta: one.system, xaxis: `x${axisOf(i)}`, yaxis: `y${axisOf(i)}`, zmin: Math.min(...values), zmax: Math.max(...values), ...DRAWN,
    colorscale: [[0, variable("--surface")], [1, variable("--series-1")]], showscale: false,
    hovertemplate: `${one.name}<br>${data.names.x} %{x}, ${data.names.y} %{y}<br>${data.names.z} %{z:.4f}<extra></extra>`,
  }));
  const axes = {};
  systems.forEach((one, i) => {
    axes[`xaxis${axisOf(i)}`] = { title: { text: data.names.x }, showgrid: false, zeroline: false };
    axes[`yaxis${axisOf(i)}`] = { title: { text: i % columns ? "" : data.names.y }, showgrid: false, zeroline: false };
  });
  const titles = systems.map((one, i) => ({
    text: `${one.name}: ${Math.min(...one.z.flat()).toFixed(4)} to ${Math.max(...one.z.flat()).toFixed(4)}`, xref: `x${axisOf(i)} domain`, yref: `y${axisOf(i)} domain`, x: 0, y: 1, xanchor: "left", yanchor: "bottom", showarrow: false, font: { color: variable("--text") },
  }));
  return [traces, layout(element, {}, { ...axes, height, annotations: titles, grid: { rows, columns, pattern: "independent", ygap: 0.35, xgap: 0.15 }, margin: { l: 56, r: 16, t: 32, b: 48 } })];
}

// One look for every chart: colours from the page's CSS variables, dashes as well as colours, no clutter.
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];

export function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export function series(i) {
  return { color: variable(`--series-${(i % 8) + 1}`), dash: DASHES[i % DASHES.length], width: 2 };
}

function axis(title, more) {
  return {
    title: { text: title, standoff: 8 }, gridcolor: variable("--line"), zerolinecolor: variable("--control"),
    linecolor: variable("--control"), automargin: true, ...more,
  };
}

export function draw(element, traces, { x, y, xaxis = {}, yaxis = {} }) {
  const narrow = element.clientWidth < 600;
  const layout = {
    margin: { l: 56, r: 16, t: 8, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: variable("--font"), size: 13, color: variable("--text") },
    hovermode: "x unified", hoverlabel: { bgcolor: variable("--surface"), bordercolor: variable("--line"), font: { color: variable("--text") } },
    legend: narrow ? { orientation: "h", y: -0.25 } : { x: 1.02, y: 1 },
    xaxis: axis(x, xaxis), yaxis: axis(y, yaxis),
  };
  const config = { displayModeBar: false, responsive: true };
  return window.Plotly.react(element, traces, layout, config);
}

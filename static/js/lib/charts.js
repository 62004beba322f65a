// One look for every chart: colours from the page's CSS variables, dashes as well as colours, no clutter.
const DASHES = ["solid", "dash", "dot", "dashdot", "longdash", "longdashdot"];
const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down", "star"];
const SYSTEM_COLOURS = 8;
const MEASURE_COLOURS = 6;

export function variable(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Systems and measures have palettes of their own, so that a colour never means both.
export function look(of) {
  if (of.system !== undefined && of.system !== null) {
    return { color: variable(`--series-${(of.system % SYSTEM_COLOURS) + 1}`), dash: DASHES[of.system % DASHES.length] };
  }
  if (of.measure !== undefined && of.measure !== null) {
    return { color: variable(`--measure-${(of.measure % MEASURE_COLOURS) + 1}`), dash: DASHES[of.measure % DASHES.length] };
  }
  return { color: variable(of.quiet ? "--control" : "--accent"), dash: of.dash ?? "solid" };
}

function axis(title, more) {
  return {
    title: { text: title, standoff: 8 }, gridcolor: variable("--line"), zerolinecolor: variable("--control"),
    linecolor: variable("--control"), automargin: true, ...more,
    ...(more.minor ? { minor: { gridcolor: variable("--line"), ...more.minor } } : {}),
  };
}

export function layout(element, data, more = {}) {
  const narrow = element.clientWidth < 600;
  return {
    margin: { l: 56, r: 16, t: 8, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: variable("--font"), size: narrow ? 12 : 13, color: variable("--text") },
    hovermode: "closest", hoverlabel: { bgcolor: variable("--surface"), bordercolor: variable("--line"), font: { color: variable("--text") } },
    legend: narrow ? { orientation: "h", y: -0.3, itemclick: false, itemdoubleclick: false } : { x: 1.02, y: 1, itemclick: false, itemdoubleclick: false },
    xaxis: axis(data.x ?? "", data.xaxis ?? {}), yaxis: axis(data.y ?? "", { ...(data.yrange ? { range: data.yrange } : {}), ...(data.yaxis ?? {}) }),
    ...more,
  };
}

export function translucent(colour, alpha) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

export const kinds = {
  // series: [{name, x, y, low?, high?, spread?, spread_down?, thin?, plain?, wide?, ring?, marks?, steps?, system | measure}],
  // reference lines: [{y, name}]
  lines(element, data) {
    const traces = [];
    for (const one of data.series) {
      const { color, dash } = look(one);
      if (one.low) {
        const band = { x: [...one.x, ...[...one.x].reverse()], y: [...one.high, ...[...one.low].reverse()] };
        traces.push({ ...band, fill: "toself", fillcolor: translucent(color, 0.15), line: { width: 0 }, mode: "lines", hoverinfo: "skip", showlegend: false, meta: one.system });
      }
      traces.push({
        x: one.x, y: one.y, name: one.name, mode: one.ring || one.marks ? "markers" : one.thin || one.plain ? "lines" : "lines+markers", meta: one.system,
        showlegend: !one.thin && !one.ring && !one.marks, line: { color, dash: one.thin ? "dot" : dash, width: one.thin ? 1 : one.wide ? 4 : 2, shape: one.steps ? "hv" : "linear" },
        marker: one.ring ? { size: 13, symbol: "circle-open", color, line: { width: 2, color } } : { size: one.size ?? 5, color }, connectgaps: false,
        ...(one.spread ? { error_y: { type: "data", symmetric: !one.spread_down, array: one.spread, arrayminus: one.spread_down, thickness: 1, width: 0, color } } : {}),
      });
    }
    for (const at of data.references ?? []) {
      const ends = traces.flatMap((trace) => trace.x).filter((x) => x !== null);
      traces.push({ x: [Math.min(...ends), Math.max(...ends)], y: [at.y, at.y], name: at.name, mode: "lines", line: { color: variable("--muted"), width: 1 }, hoverinfo: "skip" });
    }
    return [traces, layout(element, data)];
  },

  // panels: [{name, yrange?, series as of lines}], beside each other, with one legend
  panels(element, data) {
    const across = element.clientWidth < 600 ? 2 : 3, down = Math.ceil(data.panels.length / across), named = new Set();
    element.style.height = `${100 + 230 * down}px`;
    const drawn = layout(element, {}, { grid: { rows: down, columns: across, pattern: "independent", xgap: 0.18, ygap: 0.3 }, annotations: [] });
    drawn.margin.t = 32;
    if (drawn.legend.orientation === "h") drawn.legend.y = -0.08;
    const traces = data.panels.flatMap((panel, i) => {
      const at = i ? i + 1 : "";
      drawn[`xaxis${at}`] = axis("", {});
      drawn[`yaxis${at}`] = axis("", panel.yrange ? { range: panel.yrange } : {});
      drawn.annotations.push({ text: panel.name, xref: `x${at} domain`, yref: `y${at} domain`, x: 0.5, y: 1.02, yanchor: "bottom", showarrow: false });
      return kinds.lines(element, panel)[0].map((trace) => {
        const showlegend = trace.showlegend !== false && !named.has(trace.name);
        named.add(trace.name);
        return { ...trace, xaxis: `x${at}`, yaxis: `y${at}`, showlegend, legendgroup: trace.name, marker: { ...trace.marker, size: 3 } };
      });
    });
    return [traces, drawn];
  },

  // left and right: names of the two sides; lines: [{system, name, left, right, left_row?, right_row?}] places from 1, and
  // the rows that they are drawn at, where systems that share a place would be written over each other
  slope(element, data) {
    const most = Math.max(1, ...data.lines.flatMap((line) => [line.left, line.right, line.left_row ?? 1, line.right_row ?? 1]));
    const traces = data.lines.map((line) => ({
      x: [0, 1], y: [line.left_row ?? line.left, line.right_row ?? line.right], name: line.name, mode: "lines+markers+text", meta: line.system, showlegend: false,
      text: [`${line.name} ${line.left}`, `${line.right} ${line.name}`], textposition: ["middle left", "middle right"], textfont: { color: look(line).color },
      line: { ...look(line), width: 2.5 }, marker: { size: 8 }, hovertemplate: `${line.name}: ${line.left} → ${line.right}<extra></extra>`, cliponaxis: false,
    }));
    return [traces, layout(element, {}, {
      margin: { l: 110, r: 110, t: 32, b: 16 },
      xaxis: { range: [0, 1], tickvals: [0, 1], ticktext: [data.left, data.right], side: "top", showgrid: false, zeroline: false },
      yaxis: { range: [most + 0.5, 0.5], visible: false },
    })];
  },

  // rows, columns: names; values: [rows][columns] or null; from -1 to 1 unless data.range says otherwise; values below
  // data.smallest (p-values) are written as such
  matrix(element, data) {
    const [low, high] = data.range ?? [-1, 1];
    const told = (value) => (value < data.smallest ? `< ${data.smallest}` : value.toFixed(data.digits ?? 2).replace("-", "−"));
    const text = data.values.map((row) => row.map((value) => (value === null ? "–" : told(value))));
    const diverging = low < 0;
    const crowded = element.clientWidth < 600 && data.columns.length > 8;
    element.style.height = `${Math.min(160 + 44 * data.rows.length, 620)}px`;
    const [least, most] = ["--series-2", "--series-1"].map((name) => translucent(variable(name), 0.55)); // text stays readable on it
    const scale = diverging
      ? [[0, least], [0.5, variable("--surface")], [1, most]]
      : [[0, variable("--surface")], [1, most]];
    const trace = {
      type: "heatmap", x: data.columns, y: data.rows, z: data.values, text, texttemplate: crowded ? "" : "%{text}", textfont: { color: variable("--text") },
      zmin: low, zmax: high, colorscale: scale, hovertemplate: "%{y}<br>%{x}: %{text}<extra></extra>", showscale: false, xgap: 2, ygap: 2,
    };
    return [[trace], layout(element, data, {
      xaxis: { automargin: true, tickangle: -45, ...(crowded ? {} : { dtick: 1 }), showgrid: false }, yaxis: { automargin: true, autorange: "reversed", dtick: 1, showgrid: false },
    })];
  },

  // groups: [{name, system | measure, hollow?, slot?, boxes: [{x, low, q1, median, q3, high}]}]; groups of one slot stand on the
  // same side of their x and are told apart by it, so they need no legend
  box(element, data) {
    const traces = data.groups.map((group) => ({
      type: "box", name: group.name, meta: group.system, x: group.boxes.map((box) => box.x),
      q1: group.boxes.map((box) => box.q1), median: group.boxes.map((box) => box.median), q3: group.boxes.map((box) => box.q3),
      lowerfence: group.boxes.map((box) => box.low), upperfence: group.boxes.map((box) => box.high),
      line: { color: look(group).color, width: 1.5 }, fillcolor: translucent(look(group).color, group.hollow ? 0 : 0.35),
      ...(group.slot ? { offsetgroup: group.slot, showlegend: false } : {}),
    }));
    return [traces, layout(element, data, { boxmode: "group" })];
  },

  // series: [{name, x: names, y, system?, measure?, pattern?}]; stacked or beside each other; lying where data.lying, names
  // then on y, from the top
  bars(element, data) {
    const shapes = ["", "/", "\\", "x", ".", "-", "+"];
    const names = [...new Set(data.series.flatMap((one) => one.x))];
    if (data.lying) element.style.height = `${100 + Math.max(18 * names.length, 14 * data.series.reduce((bars, one) => bars + one.x.length, 0))}px`;
    const traces = data.series.map((one, i) => ({
      type: "bar", name: one.name, x: data.lying ? one.y : one.x, y: data.lying ? one.x : one.y, orientation: data.lying ? "h" : "v", meta: one.system,
      marker: { color: one.colour ? variable(one.colour) : look(one).color, pattern: { shape: shapes[i % shapes.length], solidity: 0.2, fillmode: "overlay", fgcolor: variable("--surface") } },
    }));
    const drawn = layout(element, data, { barmode: data.stacked ? "stack" : "group" });
    if (data.lying) { // every bar has its name, of a long one its end, where relations differ
      const narrow = drawn.legend.orientation === "h", most = narrow ? 22 : 48;
      if (narrow) drawn.legend.y = -0.12; // of a chart that is taller than others
      drawn.yaxis = { ...drawn.yaxis, tickmode: "array", tickvals: names, ticktext: names.map((name) => (name.length > most ? `…${name.slice(1 - most)}` : name)) };
    }
    return [traces, drawn];
  },

  // points with intervals: [{name, x, y, low?, high?, text?, hover?, system | measure}]
  points(element, data) {
    const traces = data.series.map((one) => ({
      x: one.x, y: one.y, name: one.name, mode: one.text ? "markers+text" : "markers", text: one.text, textposition: "top center", meta: one.system,
      marker: { color: look(one).color, symbol: SYMBOLS[(one.system ?? one.measure ?? 0) % SYMBOLS.length], size: 9 },
      ...(one.hover ? { hovertext: one.hover, hoverinfo: "text" } : {}),
      ...(one.low ? { error_y: { type: "data", symmetric: false, array: one.high.map((h, i) => h - one.y[i]), arrayminus: one.low.map((l, i) => one.y[i] - l), color: look(one).color, thickness: 1.5 } } : {}),
    }));
    return [traces, layout(element, data)];
  },
};

export function draw(element, chart) {
  const [traces, shape] = kinds[chart.kind](element, chart.data);
  return window.Plotly.react(element, traces, shape, { displayModeBar: false, responsive: true });
}

// The chart as a file: drawn anew on a wide sheet with the page's background, whatever the width of the window.
export function save(chart, format, name) {
  const sheet = { clientWidth: 1000, style: {} };
  const [data, shape] = kinds[chart.kind](sheet, chart.data);
  const size = { width: sheet.clientWidth, height: parseInt(sheet.style.height, 10) || 560 };
  const layout = { ...shape, ...size, paper_bgcolor: variable("--surface") };
  return window.Plotly.downloadImage({ data, layout }, { format, filename: name, ...size, scale: format === "png" ? 2 : 1 });
}

// One system stands out on every chart; null: all are equal again.
export function highlight(elements, system) {
  for (const element of elements) {
    if (!element.data?.some((trace) => trace.meta !== undefined && trace.meta !== null)) continue;
    const opacity = element.data.map((trace) => (system === null || trace.meta === system || trace.meta === undefined || trace.meta === null ? 1 : 0.15));
    window.Plotly.restyle(element, { opacity });
  }
}

// Saves a chart as it is drawn: the wide drawing, or small ones in rows, with the colours of the page written into it.
const WIDTH = 760, MARGIN = 16, SCALE = 2;
const SVG = "http://www.w3.org/2000/svg";
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/gu; // a name may have one, a page shows it, no file of XML holds it
const COPIED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

// A file has no style sheet: what the page's gives each element becomes its attributes.
function withStyles(drawing) {
  const copy = drawing.cloneNode(true);
  const from = [drawing, ...drawing.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of COPIED) to[i].setAttribute(name, style.getPropertyValue(name));
    if (element.dataset.title) {
      const title = document.createElementNS(SVG, "title");
      title.textContent = element.dataset.title;
      to[i].prepend(title);
    }
    for (const name of ["class", "data-at", "data-says", "data-title", "data-mark"]) to[i].removeAttribute(name);
  });
  return copy;
}

function sheetOf(chart) {
  const sheet = document.createElementNS(SVG, "svg");
  const wide = chart.querySelector(".drawing:is(.wide, .half)");
  let x = MARGIN, y = MARGIN, row = 0, right = 0;
  for (const drawing of wide ? [wide] : chart.querySelectorAll(".drawing")) {
    const copy = withStyles(drawing), width = Number(drawing.getAttribute("width")), height = Number(drawing.getAttribute("height"));
    if (x > MARGIN && x + width > WIDTH + MARGIN) [x, y, row] = [MARGIN, y + row + MARGIN, 0];
    copy.setAttribute("x", x);
    copy.setAttribute("y", y);
    sheet.append(copy);
    [x, row] = [x + width + MARGIN, Math.max(row, height)];
    right = Math.max(right, x);
  }
  const size = { width: right, height: y + row + MARGIN };
  for (const name of ["width", "height"]) sheet.setAttribute(name, size[name]);
  sheet.setAttribute("viewBox", `0 0 ${size.width} ${size.height}`);
  const ground = document.createElementNS(SVG, "rect");
  for (const name of ["width", "height"]) ground.setAttribute(name, size[name]);
  ground.setAttribute("fill", getComputedStyle(document.documentElement).getPropertyValue("--surface").trim());
  sheet.prepend(ground);
  return { sheet, size };
}

async function asPng(source, { width, height }) {
  const image = new Image();
  image.src = URL.createObjectURL(source);
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * SCALE, height: height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
}

export async function save(chart, format, name) {
  const { sheet, size } = sheetOf(chart);
  const source = new Blob([new XMLSerializer().serializeToString(sheet).replace(NOT_IN_XML, "\ufffd")], { type: "image/svg+xml" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(format === "png" ? await asPng(source, size) : source);
  link.download = `${name}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

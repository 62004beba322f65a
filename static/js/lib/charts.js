// Charts that the server drew: hover tells values, a click makes a system stand out on the whole page, buttons save them.
const REACH = 30; // pixels between the pointer and a point that it means
let chosen = null; // data-mark of the system that stands out
let surfaces = null; // the module of 3-D surfaces, once one was opened
const parsed = new WeakMap();
const box = document.body.appendChild(document.createElement("div"));
box.className = "chart-tip";
box.hidden = true;

// The browser's own tooltips would lie over ours: titles wait in data-title while a script runs.
function takeTitles(chart) {
  for (const title of chart.querySelectorAll("title")) {
    title.parentElement.dataset.title = title.textContent;
    title.remove();
  }
}

function pointsOf(mark) {
  if (!parsed.has(mark)) {
    const says = mark.dataset.says.split("|");
    parsed.set(mark, mark.dataset.at.split(" ").map((at, i) => ({ at: at.split(",").map(Number), says: says[i] })));
  }
  return parsed.get(mark);
}

function nearest(chart, x, y) {
  let best = null;
  for (const mark of chart.querySelectorAll("[data-at]:not(.dimmed)")) {
    const matrix = mark.getScreenCTM();
    if (!matrix || !mark.getClientRects().length) continue; // the drawing of another width
    for (const point of pointsOf(mark)) {
      const [left, top] = [matrix.a * point.at[0] + matrix.e, matrix.d * point.at[1] + matrix.f];
      const far = Math.hypot(left - x, top - y);
      if (far < (best?.far ?? REACH)) best = { mark, point, far, left, top };
    }
  }
  return best;
}

function tell(text, left, top) {
  box.textContent = text;
  box.hidden = !text;
  if (!text) return;
  const { width, height } = box.getBoundingClientRect();
  box.style.left = `${Math.max(4, Math.min(left + 12, innerWidth - width - 4))}px`;
  box.style.top = `${top - height - 10 < 4 ? top + 14 : top - height - 10}px`;
}

function hide() {
  box.hidden = true;
  for (const mark of document.querySelectorAll(".near")) mark.classList.remove("near");
}

function hover(event) {
  const chart = event.target.closest?.("[data-chart]");
  hide();
  if (!chart) return;
  takeTitles(chart);
  const own = event.target.closest("rect[data-title], text[data-title]");
  const near = own ? null : nearest(chart, event.clientX, event.clientY);
  if (near) {
    near.mark.classList.add("near");
    tell(`${near.mark.dataset.name}\n${near.point.says}`, near.left, near.top);
  } else tell((own ?? event.target.closest("[data-title]"))?.dataset.title ?? "", event.clientX, event.clientY);
}

function show() {
  let name = null; // of the system, as tables have it: the shortest that a mark has
  for (const mark of document.querySelectorAll("[data-mark]")) {
    const mine = mark.dataset.mark === chosen;
    mark.classList.toggle("dimmed", chosen !== null && !mine && !mark.matches("button"));
    if (mark.matches("button")) mark.setAttribute("aria-pressed", String(mine));
    const told = mark.dataset.name;
    if (mine && told && (name === null || told.length < name.length)) name = told;
  }
  for (const head of document.querySelectorAll("th[data-system]")) {
    const told = head.firstChild?.textContent.trim(); // behind it a note can stand
    head.closest("tr").classList.toggle("picked", name !== null && told === name);
  }
}

function choose(mark) {
  chosen = mark === chosen ? null : mark;
  show();
}

function clicked(event) {
  const mark = event.target.closest("[data-mark]") ?? (event.target.closest("[data-chart]") && nearest(event.target.closest("[data-chart]"), event.clientX, event.clientY)?.mark);
  if (mark?.dataset.mark !== undefined) return choose(mark.dataset.mark);
  const save = event.target.closest("[data-format]"), open = event.target.closest("[data-surface]");
  const key = save?.closest("[data-downloads]").dataset.downloads;
  if (save) import("./save_chart.js").then((module) => module.save(document.querySelector(`[data-chart="${key}"]`), save.dataset.format, fileName(key)));
  if (open) import("./surfaces.js").then((module) => { surfaces = module; module.open(open); });
}

function fileName(key) {
  return `${document.title.split(" · ")[0]} ${key}`.replaceAll(/[^\w-]+/g, "-");
}

// Figures were replaced while labels came in: what stood out stands out again, an open surface stays open.
export function again() {
  hide();
  if (chosen !== null) show();
  surfaces?.reopen();
}

document.addEventListener("pointermove", hover, { passive: true });
document.addEventListener("pointerdown", hover, { passive: true });
document.addEventListener("scroll", hide, { passive: true, capture: true });
document.addEventListener("click", clicked);
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && chosen !== null) choose(chosen); });

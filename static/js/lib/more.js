// A shade at the lower edge of what scrolls, while there is more below (class has-more).

const NEAR = 8; // pixels that are not worth a shade

const check = (area) => area.classList.toggle("has-more", area.scrollHeight - area.scrollTop - area.clientHeight > NEAR);

export function markMore(areas) {
  const of = new Map(); // element whose size counts: its area
  const sizes = new ResizeObserver((changes) => { for (const area of new Set(changes.map(({ target }) => of.get(target)))) check(area); });
  for (const area of areas) {
    area.addEventListener("scroll", () => check(area), { passive: true });
    for (const element of [area, ...area.children]) {
      of.set(element, area);
      sizes.observe(element);
    }
  }
}

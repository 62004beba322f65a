// Job page: every two seconds its progress comes anew; what a person has opened or scrolled stays as it was.
const kept = (root) => [...root.querySelectorAll("[id]")].filter((part) => part.open || part.scrollTop || part.scrollLeft);
let before = [];

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  before = kept(detail.target).map(({ id, open, scrollTop, scrollLeft }) => ({ id, open, scrollTop, scrollLeft }));
});

document.addEventListener("htmx:afterSwap", () => {
  for (const { id, open, scrollTop, scrollLeft } of before) {
    const part = document.getElementById(id);
    if (!part) continue;
    if (open) part.open = true;
    Object.assign(part, { scrollTop, scrollLeft });
  }
});

// One of the two answers that differ, as the adjudicator sees it: answer, source, passage, comment. No names.

import { keyCap } from "./keymap.js";

const template = document.querySelector("template[data-given-card]");

export const hasLink = (answer) => Boolean(answer?.source_url.startsWith("https://"));

// Whether its link goes with the decision. texts: {take, used}
export function markTaken(card, is, texts) {
  const button = card.querySelector("[data-take]");
  if (!button) return;
  button.setAttribute("aria-pressed", String(is));
  button.textContent = is ? texts.used : texts.take;
}

// texts: {answer: "Answer {name}", said: the answer in words}; acts: {open(name), take(name)}
export function givenCard(answer, { answer: named, said }, { open, take }) {
  const card = template.content.firstElementChild.cloneNode(true);
  const find = (name) => card.querySelector(`[data-${name}]`);
  const fill = (name, text) => {
    if (text) find(name).textContent = text;
    else find(name).remove();
  };
  card.dataset.test = `given-${answer.answer}`;
  card.setAttribute("aria-label", named.replace("{name}", answer.name));
  fill("name", answer.name);
  fill("said", said);
  fill("passage", answer.passage);
  fill("comment", answer.comment);
  if (!answer.quick) find("quick").remove();
  if (!hasLink(answer)) {
    find("source").remove();
    find("take").parentElement.remove();
    return card;
  }
  find("no-source").remove();
  const link = find("source").querySelector("a");
  const { host, pathname, search } = new URL(answer.source_url);
  link.href = answer.source_url;
  const key = link.querySelector("kbd");
  key.dataset.usual = answer.name.toLowerCase();
  key.textContent = keyCap(key.dataset.usual);
  link.querySelector("strong").textContent = host.replace(/^www\./, "");
  link.querySelector("span").textContent = pathname === "/" ? search : pathname + search;
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    open(answer.name);
  });
  find("take").addEventListener("click", () => take(answer.name));
  return card;
}

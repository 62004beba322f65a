// What the annotation and the adjudication page have in common on the screen.

import { Clock } from "./clock.js";
import { Evidence } from "./evidence.js";
import { bindDialogs, bindKeys } from "./keys.js";
import { Loop } from "./loop.js";

const ACTIVE_MS = 5 * 60000;
const IDLE = {
  nothing: ["Nothing is left for you here", "Every question that you can answer is answered, in somebody’s hands, or waits until its answers can no longer be changed. Look again in some minutes."],
  closed: ["This campaign is closed", "It gives out no more questions. Your labels are saved."],
  failed: ["No questions came", "The server had a problem. Nothing is lost."],
  offline: ["The server cannot be reached", "Look again when you are connected. Nothing is lost."],
};

export function startPage({ show, checkAnswer, comment, keys = {}, acts = {} }) {
  const config = JSON.parse(document.getElementById("config").textContent);
  const find = (selector) => document.querySelector(selector);
  const area = find("[data-loop]");
  const idle = find("[data-idle]");
  const question = find("[data-question]");
  const answers = [...document.querySelectorAll("[data-answer]")];
  const clock = new Clock();
  const evidence = new Evidence(area, config, () => question.focus());
  const text = (selector, value) => { find(selector).textContent = value; };

  const page = {
    show(item, prior) {
      idle.hidden = true;
      area.hidden = false;
      text("[data-group]", item.group_question);
      question.textContent = item.question;
      text("[data-subject-key]", item.subject.key);
      text("[data-object-key]", item.object.key);
      text("[data-subject]", item.subject.label);
      text("[data-object]", item.object.label);
      evidence.show(item, prior?.given.source_url ?? "");
      for (const button of answers) button.setAttribute("aria-pressed", String(prior?.given.answer === button.dataset.answer));
      page.say("info", prior && !prior.url ? "You are changing your answer. Undo again goes further back; Esc leaves it as it is." : "");
      show(item, prior, evidence);
      clock.restart();
      question.focus({ preventScroll: false });
    },
    idle(kind) {
      area.hidden = true;
      idle.hidden = false;
      const [heading, words] = IDLE[kind];
      idle.querySelector("h2").textContent = heading;
      idle.querySelector("p").textContent = words;
      idle.querySelector("h2").focus();
    },
    say(kind, words) {
      const notice = find(`[data-notice="${kind}"]`);
      notice.querySelector("p").textContent = words;
      notice.hidden = !words;
    },
    counts({ today, total, unsaved, canUndo, done, group }) {
      text("[data-counts]", `${today.toLocaleString("en")} today · ${total.toLocaleString("en")} in all${group > 1 ? ` · ${Math.min(done + 1, group)} of ${group} in this question` : ""}`);
      const badge = find("[data-unsaved]");
      badge.hidden = unsaved < 1;
      badge.textContent = `${unsaved} not saved yet`;
      const bar = find("[data-progress]");
      bar.max = Math.max(group, 1);
      bar.value = done;
      find('[data-act="undo"]').disabled = !canUndo;
    },
    isActive: () => document.visibilityState === "visible" && clock.idleFor() < ACTIVE_MS,
  };
  const loop = new Loop(config, page);

  function give(answer) {
    if (!loop.current || loop.guarded) return;
    if (!checkAnswer(answer) || !evidence.check(answer)) return;
    page.say("error", "");
    loop.answer({ answer, source_url: evidence.value, comment: comment(answer), active_ms: clock.read() });
  }
  const dialog = (name) => find(`[data-dialog="${name}"]`).showModal();
  const all = {
    undo: () => loop.undo(),
    guidelines: () => dialog("guidelines"),
    keys: () => dialog("keys"),
    again: () => loop.fetch(),
    ...acts,
  };
  for (const button of document.querySelectorAll("[data-act]")) button.addEventListener("click", () => all[button.dataset.act]());
  for (const button of answers) button.addEventListener("click", () => give(button.dataset.answer));
  bindDialogs();
  bindKeys({
    y: () => give("Y"), 1: () => give("Y"), n: () => give("N"), 0: () => give("N"), s: () => give("?"),
    u: all.undo, g: all.guidelines, "?": all.keys, l: () => evidence.useLast(), escape: () => loop.keep(), ...keys,
  });
  loop.start();
  return { give, evidence, loop, page };
}

// Answers that the server refused, with what was typed, until the person has read them: they outlive a reload.

import { message, show } from "./messages.js";
import { readAll, remove, write } from "./stored.js";
import { gettext } from "./words.js";

const WORDS = { Y: gettext("Yes"), N: gettext("No"), "?": gettext("Can’t tell") };
const REFUSED = message("refused", `${gettext("Not saved")}: `);
const ACT = { flag: gettext("Your report"), return: gettext("Returning it") };

function element(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

export class Outcomes {
  constructor(scope, root) {
    this.prefix = `triplepool:outcome:${scope}:`;
    this.root = root;
    this.list = root.querySelector("ol");
    this.all = new Map(Object.entries(readAll(this.prefix)));
    root.querySelector("[data-dismiss-all]").addEventListener("click", () => this.dismiss([...this.all.keys()]));
    this.draw();
  }

  add(entry, message) {
    const { answer, source_url: link = "", passage = "", comment = "" } = entry.given;
    const said = { at: Date.now(), act: entry.kind, question: entry.item.question, answer, link, passage, comment, message };
    this.all.set(entry.id, said);
    write(this.prefix + entry.id, JSON.stringify(said));
    this.draw();
  }

  dismiss(ids) {
    for (const id of ids) {
      this.all.delete(id);
      remove(this.prefix + id);
    }
    this.draw();
  }

  draw() {
    const sorted = [...this.all].sort(([, a], [, b]) => a.at - b.at);
    this.list.replaceChildren(...sorted.map(([id, said]) => this.entry(id, said)));
    this.root.hidden = !sorted.length;
    this.root.querySelector("[data-dismiss-all]").hidden = sorted.length < 2;
  }

  entry(id, said) {
    const entry = document.createElement("li");
    const typed = [WORDS[said.answer] ?? ACT[said.act] ?? "", said.link, said.passage, said.comment].filter(Boolean).join(" · ");
    const heading = document.createElement("strong");
    show(heading, REFUSED);
    const question = element("span", "", said.question);
    question.dataset.test = "question";
    heading.append(question);
    entry.append(heading, element("p", "break", typed), element("p", "small", said.message));
    const button = element("button", "button-plain small", gettext("Dismiss"));
    button.type = "button";
    button.addEventListener("click", () => this.dismiss([id]));
    entry.append(button);
    return entry;
  }
}

// The evidence row: search links, the link field, pasting anywhere, and the last source of the question.

const REQUIRED = { both: ["Y", "N"], yes: ["Y"], never: [] };
const RULE = { both: "required for yes and no", yes: "required for yes", never: "optional" };

// Why a link cannot stand, or "". The server decides; this only says it sooner.
export function problemOf(link, answer, rule, hosts) {
  const allowed = `Links may go to: ${hosts.join(", ")}.`;
  if (!link) return REQUIRED[rule].includes(answer) ? `A ${answer === "Y" ? "yes" : "no"} needs a link to its evidence. ${allowed}` : "";
  let url;
  try {
    url = new URL(link);
  } catch {
    return `The link is not a web address. ${allowed}`;
  }
  if (url.protocol !== "https:") return `The link does not begin with https://. ${allowed}`;
  const known = hosts.some((host) => url.hostname === host || url.hostname.endsWith(`.${host}`));
  return known ? "" : `The link goes to ${url.hostname}, which is not a verified source. ${allowed}`;
}

export class Evidence {
  constructor(root, config, onPasted) {
    this.field = root.querySelector("#link");
    this.error = root.querySelector("#link-error");
    this.list = root.querySelector("[data-searches]");
    this.lastButton = root.querySelector("[data-last]");
    this.hosts = config.sources.map((source) => source.host).sort();
    this.rule = config.evidence_rule;
    this.last = new Map(); // group: link
    root.querySelector("[data-rule]").textContent = RULE[this.rule];
    this.choices = [...root.querySelectorAll("[name=search-for]")];
    for (const choice of this.choices) choice.addEventListener("change", () => this.fillSearches());
    this.lastButton.addEventListener("click", () => this.useLast());
    this.field.addEventListener("input", () => this.say(""));
    document.addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text").trim() ?? "";
      const isField = event.target === this.field;
      const inOther = event.target instanceof Element && event.target.closest("input, textarea") && !isField;
      if (inOther || !/^https?:\/\/\S+$/i.test(text) || !this.item) return;
      event.preventDefault();
      this.set(text);
      onPasted(); // out of the field, so that the answer keys work
    });
  }

  show(item, link = "") {
    this.item = item;
    this.set(link);
    this.say("");
    const last = this.last.get(item.group);
    this.lastButton.hidden = !last;
    this.lastButton.querySelector("span").textContent = last ?? "";
    this.fillSearches();
  }

  fillSearches() {
    const what = this.choices.find((choice) => choice.checked)?.value ?? "both";
    this.list.replaceChildren(
      ...this.item.searches.map((search) => {
        const link = document.createElement("a");
        link.href = search[what];
        link.target = "_blank";
        link.rel = "noopener noreferrer";
        link.textContent = search.source;
        const entry = document.createElement("li");
        entry.append(link);
        return entry;
      }),
    );
  }

  get value() {
    return this.field.value.trim();
  }

  set(link) {
    this.field.value = link;
    this.say("");
  }

  useLast() {
    const last = this.item && this.last.get(this.item.group);
    if (last) this.set(last);
  }

  // Whether the link may stand with this answer; if not, the page says why.
  check(answer) {
    const problem = problemOf(this.value, answer, this.rule, this.hosts);
    this.say(problem);
    if (problem) this.field.focus();
    else if (this.value) this.last.set(this.item.group, this.value);
    return !problem;
  }

  say(problem) {
    this.error.textContent = problem;
    this.error.hidden = !problem;
    this.field.toggleAttribute("aria-invalid", false);
    if (problem) this.field.setAttribute("aria-invalid", "true");
    else this.field.removeAttribute("aria-invalid");
  }
}

// An entity card: what the graph says of an entity. Everything that came is shown as text.

import { gettext } from "./words.js";

const WEB = new Set(["http:", "https:"]);

function webAddress(link) {
  const address = URL.canParse(link) ? new URL(link) : null;
  return address && WEB.has(address.protocol) ? address : null;
}

function element(name, className, text = "") {
  return Object.assign(document.createElement(name), { className, textContent: text });
}

function fact({ head, relation, tail }) {
  const line = element("li", "break");
  line.append(element("span", "", head), " ", element("em", "", relation), " ", element("span", "", tail));
  return line;
}

// What is known beside the name, as elements; none where the graph has a name only.
function parts({ types, description, aliases, link, facts }) {
  const found = [];
  if (types.length) {
    const list = element("ul", "card-types");
    list.append(...types.map((type) => element("li", "", type)));
    found.push(list);
  }
  if (description) found.push(element("p", "card-description break", description));
  if (aliases.length) {
    const also = Object.assign(element("span", "", gettext("Also:")), { lang: document.documentElement.lang }); // the card has the language of the questions
    const line = element("p", "card-aliases break");
    line.append(also, ` ${aliases.join(", ")}`);
    found.push(line);
  }
  if (facts.length) {
    const list = element("ul", "card-facts");
    list.append(...facts.map(fact));
    found.push(list);
  }
  const address = webAddress(link);
  if (address) found.push(Object.assign(element("a", "card-link break", address.host), { href: address.href, target: "_blank", rel: "noopener noreferrer" }));
  return found;
}

// Fill a card with an entity of an item; `named`: begin with its label and key.
export function fillCard(card, entity, named = false) {
  const shown = parts(entity);
  card.hidden = !named && !shown.length;
  if (named) {
    const name = element("h3", "card-name break", entity.label);
    const key = element("span", "card-key mono break", entity.key);
    key.dataset.cardKey = "";
    name.append(" ", key);
    shown.unshift(name);
  }
  card.replaceChildren(...shown);
}

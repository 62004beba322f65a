// What is known of an entity beside its label: description, aliases and a link, in one modest line.

const WEB = new Set(["http:", "https:"]);

function webAddress(link) {
  const address = URL.canParse(link) ? new URL(link) : null;
  return address && WEB.has(address.protocol) ? address : null;
}

// Fill a paragraph from the entity of an item; it hides where nothing is known. `named`: begin with the label.
export function fillAbout(line, entity, named = false) {
  const { description, aliases, link } = entity;
  const texts = [description, aliases.length ? `Also: ${aliases.join(", ")}` : ""].filter(Boolean);
  const parts = texts.map((text) => Object.assign(document.createElement("span"), { textContent: text }));
  const address = webAddress(link);
  if (address) {
    parts.push(Object.assign(document.createElement("a"), { href: address.href, target: "_blank", rel: "noopener noreferrer", textContent: address.host }));
  }
  line.hidden = !parts.length;
  if (named && parts.length) parts.unshift(Object.assign(document.createElement("strong"), { textContent: entity.label }));
  line.replaceChildren(...parts);
}

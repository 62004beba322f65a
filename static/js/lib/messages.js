// Messages have names: an element that shows one has its name in data-message. Tests compare the name, so that
// the words can change.

// A message: what tests call it, and what people read. No message is null.
export const message = (name, words) => ({ name, words });

// What the server says, in its own words.
export const fromServer = (words) => message("server", words);

export function show(element, shown) {
  element.textContent = shown?.words ?? "";
  element.dataset.message = shown?.name ?? "";
}

// A button that shows where links may go.
function allHosts(hosts) {
  const dialog = document.querySelector('[data-dialog="sources"]');
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button-plain small", textContent: dialog.dataset.all });
  button.addEventListener("click", () => {
    const items = [...hosts].sort().map((host) => Object.assign(document.createElement("li"), { textContent: host }));
    dialog.querySelector("ul").replaceChildren(...items);
    dialog.showModal();
  });
  return button;
}

// A problem beside a field, which is there only while there is one.
export function showProblem(element, problem, field = null) {
  show(element, problem);
  if (problem?.all) element.prepend(allHosts(problem.all)); // first, so that it is in sight where the words scroll
  element.classList.remove("field-warning");
  element.hidden = !problem;
  if (problem) field?.setAttribute("aria-invalid", "true");
  else field?.removeAttribute("aria-invalid");
}

// A warning at the same place: what was typed may stay.
export function showWarning(element, warning) {
  show(element, warning);
  element.hidden = !warning;
  element.classList.toggle("field-warning", Boolean(warning));
}

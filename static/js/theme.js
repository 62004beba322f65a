// Loaded first and not as a module, so that a page never flashes in the wrong theme.
// The choice is "auto" (what the device asks for), "light" or "dark"; charts listen to "themechange".
(() => {
  const CHOICES = ["auto", "light", "dark"];

  function stored() {
    try {
      const choice = localStorage.getItem("theme");
      return CHOICES.includes(choice) ? choice : "auto";
    } catch {
      return "auto"; // storage is off: follow the device
    }
  }

  function show(choice) {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
  }

  show(stored());

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-switch]");
    const inputs = [...document.querySelectorAll('input[name="theme"]')]; // on the account page
    if (!button) return;
    let choice = stored();
    const name = () => {
      button.title = button.textContent = button.dataset[choice];
      button.dataset.message = choice; // as lib/messages.js does
      for (const input of inputs) input.checked = input.value === choice;
    };
    const choose = (next) => {
      choice = next;
      try { localStorage.setItem("theme", choice); } catch { /* holds for this page only */ }
      show(choice);
      name();
      document.dispatchEvent(new CustomEvent("themechange", { detail: choice }));
    };
    name();
    button.hidden = false;
    button.addEventListener("click", () => choose(CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length]));
    for (const input of inputs) input.addEventListener("change", () => choose(input.value));
  });
})();

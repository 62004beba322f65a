// Texts in the language of the page: language/<code>.js, loaded before, knows their translations.
// gettext("…") and ngettext("one …", "… of many", n) are found in the scripts by docs/write_translations.py.

export const gettext = window.django.gettext;
export const ngettext = window.django.ngettext;

// A text with its {names} filled in.
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// A number as the language of the page writes it.
export const number = (value) => value.toLocaleString(document.documentElement.lang);

// An answer as people read it.
export const SAID = { Y: gettext("Yes"), N: gettext("No"), "?": gettext("Can’t tell") };

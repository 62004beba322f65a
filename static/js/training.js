// The training page: the answers have their keys, and what leads on has the focus.

import { showKeys } from "./lib/keymap.js";
import { bindKeys } from "./lib/keys.js";

const answers = Object.fromEntries([["y", "Y"], ["n", "N"], ["s", "?"]].map(([key, value]) => [key, document.querySelector(`.training-answers [value="${value}"]`)]));

showKeys();
bindKeys((name) => answers[name] && (() => answers[name].click()), (field) => field.blur());
document.querySelector("[data-next]")?.focus();

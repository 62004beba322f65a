// The page of the guidelines: who opens it has read this version.

import { markSeen } from "./lib/guidelines_seen.js";

const shown = document.querySelector("[data-guidelines-version]")?.dataset;
if (shown) markSeen(shown.pool, Number(shown.guidelinesVersion));

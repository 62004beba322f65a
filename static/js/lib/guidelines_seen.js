// Which version of a campaign's guidelines was read in this browser: in the drawer, or on their page.

import { read, write } from "./stored.js";

export const keyOf = (pool) => `triplepool:guidelines:${pool}`;

export const seenOf = (pool) => Number(read(keyOf(pool), "0"));

export function markSeen(pool, version) {
  if (version > seenOf(pool)) write(keyOf(pool), String(version));
}

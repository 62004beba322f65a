// A press that was meant for the question before must not label the next: presses count only some time after the
// question was painted. How long is the person's own choice (account page).

import { read } from "./stored.js";

const PACES = [300, 600, 1000];

export class Guard {
  constructor() {
    this.open = Infinity;
  }

  // A question is being put on the screen.
  close() {
    const mine = (this.turn = (this.turn ?? 0) + 1);
    const chosen = Number(read("triplepool:pace"));
    const pace = PACES.includes(chosen) ? chosen : PACES[0];
    this.open = Infinity;
    requestAnimationFrame(() => {
      if (this.turn === mine) this.open = performance.now() + pace;
    });
  }

  get isClosed() {
    return performance.now() < this.open;
  }
}

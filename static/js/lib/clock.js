// Active time on a question: gaps between signs of life, none counted for more than a minute.

const LONGEST_GAP = 60000;

export class Clock {
  constructor() {
    this.restart();
    for (const kind of ["keydown", "pointerdown", "pointermove", "scroll", "focus"]) {
      addEventListener(kind, () => this.mark(), { passive: true, capture: true });
    }
  }

  restart() {
    this.total = 0;
    this.last = performance.now();
  }

  mark() {
    const now = performance.now();
    this.total += Math.min(now - this.last, LONGEST_GAP);
    this.last = now;
  }

  // milliseconds since restart
  read() {
    this.mark();
    return Math.round(this.total);
  }

  idleFor() {
    return performance.now() - this.last;
  }
}

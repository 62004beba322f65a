// Time on a question. Active: gaps between signs of life, none counted for more than a minute. Away: the rest.

const LONGEST_GAP = 60000;

export class Clock {
  constructor(now = () => performance.now()) {
    this.now = now;
    this.restart();
    for (const kind of ["keydown", "pointerdown", "pointermove", "scroll", "focus"]) {
      addEventListener(kind, () => this.mark(), { passive: true, capture: true });
    }
  }

  restart() {
    this.active = 0;
    this.begin = this.last = this.now();
  }

  mark() {
    const now = this.now();
    this.active += Math.min(now - this.last, LONGEST_GAP);
    this.last = now;
  }

  // Both since the last restart, which this is another of.
  lap() {
    this.mark();
    const active = Math.round(this.active);
    const away = Math.max(Math.round(this.last - this.begin) - active, 0);
    this.restart();
    return { active_ms: active, away_ms: away };
  }

  idleFor() {
    return this.now() - this.last;
  }
}

"""Report rounds of named stages as the epochs of a training, a few times a second, and stop when asked to."""

import time
from collections.abc import Mapping

from core.callbacks import Watch
from pooling.learning.loop import REPORT_SECONDS, EpochReport, Training, TrainingCancelled


class StageProgress:
    """Tell where work is that goes through the same stages in each round; a round counts as an epoch without a loss.

    `stages` says how much of a round each stage takes, in any unit, in their order.
    """

    def __init__(self, asked: Training, stages: Mapping[str, float], rounds: int = 1) -> None:
        self.asked, self.rounds = asked, rounds
        self.names, self.parts = list(stages), list(stages.values())
        self.round = 1
        self.reported, self.stage, self.stage_began = 0.0, "", time.monotonic()
        self.best_mrr: float | None = None

    def tell(self, stage: str, done: float, total: int, *, left: float | None = None, words: str = "") -> None:
        """Report a stage; called often. Raises TrainingCancelled where somebody asked for the end.

        The time left is that of the stage, unless it is known: how long the next takes shows when it begins.
        """
        if self.asked.should_stop():
            raise TrainingCancelled(f"training of {self.asked.name} was stopped while {stage}")
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.stage_began = stage, now
        if now - self.reported > REPORT_SECONDS:
            self.reported = now
            share, place = done / max(total, 1), self.names.index(stage)
            if left is None:
                left = (now - self.stage_began) / share * (1 - share) if share else 0.0
            before = sum(self.parts[:place]) + share * self.parts[place]
            fraction = min(before / sum(self.parts), 0.99)  # a little is left for the end
            self._report(fraction, None, left, words or f"{stage}, {done:,} of {total:,}")

    def watch(self, stage: str) -> Watch:
        """Return what reports a stage to functions that know no stages."""
        return Watch(lambda done, total: self.tell(stage, done, total))

    def end_round(self, mrr: float | None, words: str) -> None:
        """Report the end of a round, with its validation MRR."""
        if mrr is not None:
            self.best_mrr = max(mrr, self.best_mrr or 0.0)
        self._report(1.0, mrr, 0.0, words)
        self.round += 1

    def _report(self, fraction: float, mrr: float | None, left: float, words: str) -> None:
        report = EpochReport(self.round, self.rounds, fraction, None, mrr, self.best_mrr, left, words)
        self.asked.on_progress(report)

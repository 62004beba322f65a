"""Keep the sums of the current labels in memory: after a label only its two questions are computed again."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from evaluation.measures.live_sums import LiveSums
from evaluation.measures.prepared import Prepared
from evaluation.measures.question_sums import QuestionSums

KEPT = 4  # pools × how assumed negatives count
_kept: OrderedDict[tuple[int, bool], LiveSums] = OrderedDict()
_lock = threading.Lock()


def live_sums(
    prepared: Prepared, state: np.ndarray, names: Sequence[str], assumed_is_judged: bool
) -> dict[str, QuestionSums]:
    """Return the question sums of measures, fast where the labels differ little from those of the last call.

    Measures that were not asked for before are computed for all questions, beside those that were.
    """
    key = (id(prepared), assumed_is_judged)  # the kept sums hold `prepared`: its id is not given away
    with _lock:
        live = _kept.get(key)
        if live is None or not set(names) <= set(live.names):
            known = live.names if live else ()
            live = LiveSums(prepared, state, dict.fromkeys((*known, *names)), assumed_is_judged)
        live.update(state)
        _kept[key] = live
        _kept.move_to_end(key)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
        found = live.sums()
        return {name: found[name] for name in names}

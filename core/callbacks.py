"""Types of the functions that long work calls as it goes; kernels may import them, nothing here needs Django."""

from collections.abc import Callable
from typing import NamedTuple

Tell = Callable[[int, int], None]  # done, total; may raise to end the work
TellStage = Callable[[str, int, int], None]  # stage, done, total; may raise to end the work
Stop = Callable[[], bool]  # has somebody asked for the end?


class Watch(NamedTuple):
    """How work tells how far it is, and learns that it should stop; by default nobody listens."""

    tell: Tell = lambda done, total: None
    stop: Stop = lambda: False


UNWATCHED = Watch()

"""Types of the functions that long work calls as it goes; kernels may import them, nothing here needs Django."""

from collections.abc import Callable

Tell = Callable[[int, int], None]  # done, total; may raise to end the work
TellStage = Callable[[str, int, int], None]  # stage, done, total; may raise to end the work
Stop = Callable[[], bool]  # has somebody asked for the end?

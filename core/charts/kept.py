"""Keep the drawings that were asked for last, so that a page that is opened again draws nothing."""

import marshal
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from threading import Lock
from typing import Any

MOST = 32_000_000  # characters in all: the drawings of some 50 pages


class Drawings:
    """Hold texts by what they are drawn from; those that were not asked for longest go first."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self.size = most, 0
        self._texts: OrderedDict[bytes, str] = OrderedDict()
        self._lock = Lock()

    def get(self, source: Any, draw: Callable[[], str]) -> str:
        """Return the text that `draw` makes of `source` (lists, dicts, texts and numbers), which alone decides it."""
        try:
            # by value, without references (version 2): equal charts of two requests give equal bytes
            key = sha256(marshal.dumps(source, 2)).digest()
        except ValueError:  # it holds something else
            return draw()
        with self._lock:
            if (found := self._texts.get(key)) is not None:
                self._texts.move_to_end(key)
                return found
        made = draw()  # two requests may draw the same at the same time
        with self._lock:
            self.size += len(made) - len(self._texts.pop(key, ""))
            self._texts[key] = made
            while self.size > self.most:
                self.size -= len(self._texts.popitem(last=False)[1])
        return made

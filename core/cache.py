"""A cache in Redis that may go away: what it counted is forgotten then, and nobody waits or is refused."""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.core.cache.backends.redis import RedisCache, RedisCacheClient
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)
TOLD_EVERY = 60.0  # seconds
LEFT_ALONE = 5.0  # seconds after a failure, in which nobody waits for the next


class _Client(RedisCacheClient):
    """Answer as an empty cache does while Redis does not answer."""

    away_until = told_at = float("-inf")  # of time.monotonic, for all threads of the process

    def _try(self, do: Callable[[], Any], otherwise: Any) -> Any:
        if time.monotonic() < _Client.away_until:
            return otherwise
        try:
            return do()
        except RedisError as error:
            now = time.monotonic()
            _Client.away_until = now + LEFT_ALONE
            if now >= _Client.told_at + TOLD_EVERY:
                _Client.told_at = now
                logger.warning("The cache (CACHE_URL) does not answer, so requests are not counted: %s", error)
            return otherwise

    def get(self, key: Any, default: Any) -> Any:
        return self._try(lambda: super(_Client, self).get(key, default), default)

    def get_many(self, keys: Any) -> Any:
        return self._try(lambda: super(_Client, self).get_many(keys), {})

    def has_key(self, key: Any) -> bool:
        return bool(self._try(lambda: super(_Client, self).has_key(key), False))

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        return bool(self._try(lambda: super(_Client, self).add(key, value, timeout), True))

    def set(self, key: Any, value: Any, timeout: Any) -> None:
        self._try(lambda: super(_Client, self).set(key, value, timeout), None)

    def set_many(self, data: Any, timeout: Any) -> None:
        self._try(lambda: super(_Client, self).set_many(data, timeout), None)

    def touch(self, key: Any, timeout: Any) -> bool:
        return bool(self._try(lambda: super(_Client, self).touch(key, timeout), False))

    def delete(self, key: Any) -> bool:
        return bool(self._try(lambda: super(_Client, self).delete(key), False))

    def delete_many(self, keys: Any) -> None:
        self._try(lambda: super(_Client, self).delete_many(keys), None)

    def incr(self, key: Any, delta: int) -> int:
        return int(self._try(lambda: super(_Client, self).incr(key, delta), delta))

    def clear(self) -> bool:
        return bool(self._try(lambda: super(_Client, self).clear(), False))


class CacheThatMayFail(RedisCache):
    """A cache in Redis without which the site goes on."""

    def __init__(self, server: Any, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = _Client

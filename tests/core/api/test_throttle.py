"""Rates of the API: of many requests at once, each counts."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache.backends.locmem import LocMemCache
from django.test import RequestFactory
from rest_framework.request import Request

from core.api import throttle
from core.api.throttle import ByRole

AT_ONCE, EACH, MOST = 8, 40, 100


def ask(cache: Any, address: str = "10.0.0.1") -> ByRole | None:
    """Ask once, from an address without an account; return the throttle if it refuses."""
    one = ByRole()
    one.cache = cache
    request = Request(RequestFactory().get("/api/v1/schema", REMOTE_ADDR=address))
    request.user = AnonymousUser()
    return None if one.allow_request(request, SimpleNamespace()) else one


@pytest.fixture
def slow_cache(monkeypatch) -> LocMemCache:
    """A cache between two of whose calls other threads have their turn."""
    cache = LocMemCache("rates", {})
    cache.clear()
    monkeypatch.setattr(throttle, "OPEN_RATE", f"{MOST}/min")
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield cache
    sys.setswitchinterval(before)
    cache.clear()


def test_requests_at_once_are_all_counted(slow_cache):
    allowed = []
    start = threading.Barrier(AT_ONCE)

    def many() -> None:
        start.wait()
        allowed.extend(ask(slow_cache) is None for _ in range(EACH))

    threads = [threading.Thread(target=many) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sum(allowed), len(allowed)) == (MOST, AT_ONCE * EACH)
    assert ask(slow_cache, "10.0.0.2") is None  # somebody else


def test_who_is_refused_is_told_until_when_and_then_allowed(slow_cache, monkeypatch):
    monkeypatch.setattr(throttle, "OPEN_RATE", "1/min")
    assert ask(slow_cache) is None
    refused = ask(slow_cache)
    assert refused is not None and 59 < refused.wait() <= 60
    for key in slow_cache._expire_info:
        slow_cache._expire_info[key] -= 60
    assert ask(slow_cache) is None

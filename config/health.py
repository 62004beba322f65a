"""Tell load balancers and monitors how the site is: /healthz (this process answers), /readyz (what it needs works).

Both answer before the middleware that refuses requests, so that they need no known host name, no https, no session and
no sign-in. They name what fails and nothing about it: reasons are in the log.
"""

import logging
import threading
import time
from collections.abc import Callable
from tempfile import TemporaryFile

from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase

from config.celery import app as celery_app
from core.files import bucket
from core.files.bucket import StoreError
from core.jobs.queues import able_workers, queue_states

logger = logging.getLogger(__name__)
SECONDS = 2  # that a broker or a store is waited for
_stored: dict[str, float] = {}  # until when the store counts as good


class Health:
    """Answer /healthz and /readyz; all else goes on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == "/healthz":
            return JsonResponse({"status": "ok"})
        if request.path_info == "/readyz":
            found = {name: _works(name, check) for name, check in CHECKS.items()}
            # without a worker or a cache the site still takes labels
            ready = found["database"] == "ok"
            return JsonResponse({"status": "ok" if ready else "failed", **found}, status=200 if ready else 503)
        return self.get_response(request)


def _works(name: str, check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception as error:  # every service fails in its own way
        logger.warning("readyz: %s: %s", name, error)
        return "failed"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    return "ok"


def _cache() -> str:
    cache.set("readyz", 1, 5)
    return "ok" if cache.get("readyz") == 1 else "failed"


def _broker() -> str:
    with celery_app.connection_for_write(connect_timeout=SECONDS) as broker:
        broker.ensure_connection(max_retries=1, timeout=SECONDS)
    return "ok"


def _storage() -> str:
    """Write where artifacts are kept: the store, if one is set, and this machine's folder."""
    settings.ARTIFACT_ROOT.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=settings.ARTIFACT_ROOT) as file:
        file.write(b"readyz")
    # a bucket costs money for each object: once a minute and process is enough
    if bucket.is_set() and time.monotonic() > _stored.get("until", 0):
        trial = threading.Thread(target=_try_store, daemon=True)  # a store that is away is asked again and again
        trial.start()
        trial.join(SECONDS)
        return "ok" if time.monotonic() < _stored.get("until", 0) else "failed"
    return "ok"


def _try_store() -> None:
    try:
        bucket.check()
    except StoreError as error:
        logger.warning("readyz: storage: %s", error)
    else:
        _stored["until"] = time.monotonic() + 60


def _workers() -> str:
    """Return the queues that no worker serves."""
    missing = [one.name for one in queue_states(able_workers()) if not one.workers]
    return f"none for {', '.join(missing)}" if missing else "ok"


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "cache": _cache,
    "broker": _broker,
    "storage": _storage,
    "workers": _workers,
}

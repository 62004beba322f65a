"""Tell Prometheus how the site is: /metrics, for whoever sends METRICS_TOKEN. To anybody else it is an unknown address.

Requests are counted in each web process. With several of them, PROMETHEUS_MULTIPROC_DIR names a folder in which they
add them up (deploy/entry makes it). The gauges are of the moment, read from the database when they are asked for.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotation.campaigns.overview import activity
from core.files.usage import artifact_bytes, database_bytes, free_bytes
from core.jobs.queues import able_workers, queue_states

logger = logging.getLogger(__name__)
PATH = "/metrics"
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
SECONDS = (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)

REQUESTS = Counter("triplepool_requests", "Requests by route pattern", ["method", "route", "status"])
TIMES = Histogram("triplepool_request_seconds", "Seconds until an answer begins", ["route"], buckets=SECONDS)


class Metrics:
    """Answer /metrics to whoever has the token; count all other requests and their time."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info == PATH and _has_token(request):
            return HttpResponse(_exposition(), content_type=CONTENT_TYPE_LATEST)
        began = time.perf_counter()
        response = self.get_response(request)
        # a pattern, such as graphs/<slug:name>: the names in an address are nobody's business here
        route = request.resolver_match.route if request.resolver_match else "none"
        method = request.method if request.method in METHODS else "other"
        REQUESTS.labels(method, route, response.status_code).inc()
        TIMES.labels(route).observe(time.perf_counter() - began)
        return response


def _has_token(request: HttpRequest) -> bool:
    sent = request.META.get("HTTP_AUTHORIZATION", "")
    return bool(settings.METRICS_TOKEN) and constant_time_compare(sent, f"Bearer {settings.METRICS_TOKEN}")


def _exposition() -> bytes:
    registry = REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    now = CollectorRegistry()
    now.register(_Now())
    return generate_latest(registry) + generate_latest(now)


class _Now(Collector):
    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield _gauge("artifact_bytes", "Bytes of the artifact folder of this machine", artifact_bytes())
        yield _gauge("free_bytes", "Bytes free on the disk of the artifact folder", free_bytes())
        try:
            yield from list(_of_the_database())
        except DatabaseError as error:
            logger.warning("metrics: the database: %s", error)


def _of_the_database() -> Iterator[GaugeMetricFamily]:
    yield _gauge("database_bytes", "Bytes of the database", database_bytes())
    queues = queue_states(able_workers())
    yield _by_queue("queue_jobs", "Jobs that wait", ((one.name, one.length) for one in queues))
    oldest = ((one.name, one.oldest or 0) for one in queues)
    yield _by_queue("queue_oldest_seconds", "Seconds for which the oldest job has waited", oldest)
    yield _by_queue("queue_workers", "Live workers that take its jobs", ((one.name, one.workers) for one in queues))
    people = activity()
    yield _gauge("leases", "Questions that people hold", people.leases)
    yield _gauge("labels_last_minute", "Labels saved within the last minute", people.labels)
    yield _gauge("surplus_labels", "Answers that were kept apart, since their slot could not take them", people.surplus)


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"triplepool_{name}", about, value=value)


def _by_queue(name: str, about: str, values: Iterable[tuple[str, float]]) -> GaugeMetricFamily:
    found = GaugeMetricFamily(f"triplepool_{name}", about, labels=["queue"])
    for queue, value in values:
        found.add_metric([queue], value)
    return found

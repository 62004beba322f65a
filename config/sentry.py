"""Report errors to Sentry, without personal data; imported only if SENTRY_DSN is set."""

from typing import Any

import sentry_sdk
from sentry_sdk.integrations.celery import CeleryIntegration
from sentry_sdk.integrations.django import DjangoIntegration

from core.errors import UserError

KEPT = (
    "event_id",
    "timestamp",
    "platform",
    "level",
    "logger",
    "transaction",
    "release",
    "exception",
    "logentry",
    "sdk",
)


def start(dsn: str) -> None:
    """Send uncaught errors, and what is logged as an error, to this address."""
    sentry_sdk.init(
        dsn=dsn,
        send_default_pii=False,
        auto_enabling_integrations=False,  # it would import whatever it knows, such as SQLAlchemy and Flask
        integrations=[DjangoIntegration(), CeleryIntegration()],
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=cleaned,  # type: ignore[arg-type]
    )


def cleaned(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any] | None:
    """Keep of an event what tells the error, and nothing of the request: addresses hold names and secret links.

    None for what the site tells its users: a wrong file is no fault of the program.
    """
    _, error, _ = hint.get("exc_info") or (None, None, None)
    if isinstance(error, UserError):
        return None
    kept = {name: event[name] for name in KEPT if name in event}
    if event.get("transaction_info", {}).get("source") != "route":  # else it may be the address itself
        kept.pop("transaction", None)
    if "logentry" in kept:  # the words, without what was put into them
        kept["logentry"] = {"message": kept["logentry"].get("message", "")}
    for one in kept.get("exception", {}).get("values", ()):
        one["value"] = str(one.get("value") or "").split("\n")[0]  # PostgreSQL names values in the lines below
    return kept

"""Options that commands of pooling share."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from pooling.pools.filtering import parse_filters


def filters_named(text: str) -> list[str]:
    """Names of filters as `--filters` takes them; CommandError names those that exist."""
    if not text.strip(" ,"):
        raise CommandError("--filters is empty: name some, or none for a pool that people judge whole.")
    try:
        return parse_filters(text)
    except ValueError as error:
        raise CommandError(f"--filters: {error}") from error


def add_no_predictive(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--no-predictive",
        action="store_true",
        help="do not store the predictive distributions that the max-k measures read; score_runs adds them later",
    )


def scoring_params(options: Mapping[str, Any]) -> dict[str, Any]:
    """What such a command tells the job that scores."""
    return {"predictive": False} if options["no_predictive"] else {}

"""Have people judge a sample of the triples that filters took."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.campaigns.opening import get_campaign
from annotation.release.audit_sample import draw_audit
from core.management.shell import user_errors


class Command(BaseCommand):
    help = (
        "Mix a seeded share of the filtered triples, one of each filter at least, among what people label, unmarked. "
        "What was drawn before counts: run twice it adds nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--share", type=float, default=0.05, help="of each filter; default: 0.05")
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            campaign = get_campaign(options["pool"])
            drawn = draw_audit(campaign, options["share"], seed=options["seed"])
        self.stdout.write(
            f"{campaign}: {drawn.added:,} filtered triples drawn, {drawn.total:,} in the sample"
            f"{'. ' + drawn.among if drawn.added else ''}"
        )

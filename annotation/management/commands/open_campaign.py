"""Open the campaign of a pool: its people, sources and questions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.domain.campaign import open_campaign
from annotation.enums import EvidenceRule
from annotation.models import Campaign
from pooling.domain.pool import get_pool
from pooling.management.shell import Ticker, user_errors


class Command(BaseCommand):
    help = (
        "Make an item with two slots of every pooled triple that people judge. Run twice it changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--seed", type=int, default=0, help="of the order in which questions are given out"
        )
        parser.add_argument("--evidence-rule", choices=EvidenceRule.values, help="default: both")
        parser.add_argument("--lease-minutes", type=int, help="default: 15")

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            pool = get_pool(options["pool"])
            present = Campaign.objects.filter(pool=pool).first()
            if present is not None:
                self.stdout.write(
                    f"{pool.name}: the campaign is already open, with {present.items.count():,} items"
                )
                if options["evidence_rule"] is not None or options["lease_minutes"] is not None:
                    raise CommandError(
                        "Its rules were left as they are: change them on the page of the campaign."
                    )
                return
            ticker = Ticker(self.stderr)  # type: ignore[arg-type]
            campaign = open_campaign(
                pool, seed=options["seed"], evidence_rule=options["evidence_rule"] or EvidenceRule.BOTH,
                lease_minutes=15 if options["lease_minutes"] is None else options["lease_minutes"],
                progress=lambda done, total: ticker("items", done, total),
            )  # fmt: skip
        groups = campaign.items.values("group").distinct().count()
        self.stdout.write(
            f"{pool.name}: campaign open, {campaign.items.count():,} items in {groups:,} questions"
        )

"""Open the campaign of a pool: its people, sources and questions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

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
        parser.add_argument("--evidence-rule", choices=EvidenceRule.values, default=EvidenceRule.BOTH)
        parser.add_argument("--lease-minutes", type=int, default=15)

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            pool = get_pool(options["pool"])
            present = Campaign.objects.filter(pool=pool).first()
            if present is not None:
                self.stdout.write(
                    f"{pool.name}: the campaign is already open, with {present.items.count():,} items"
                )
                return
            ticker = Ticker(self.stderr)  # type: ignore[arg-type]
            campaign = open_campaign(
                pool, seed=options["seed"], evidence_rule=options["evidence_rule"],
                lease_minutes=options["lease_minutes"],
                progress=lambda done, total: ticker("items", done, total),
            )  # fmt: skip
        groups = campaign.items.values("group").distinct().count()
        self.stdout.write(
            f"{pool.name}: campaign open, {campaign.items.count():,} items in {groups:,} questions"
        )

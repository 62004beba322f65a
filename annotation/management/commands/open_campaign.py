"""Open the campaign of a pool: its people, sources and questions."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import EvidenceRule
from annotation.management.campaign_command import add_order_options
from annotation.models import Campaign
from annotation.release.next_batch import unreleased
from annotation.release.settings import DEFAULT_ORDER, read_settings
from core.management.shell import ShellCommand, Ticker
from pooling.orders import ORDERS
from pooling.pools.build import get_pool

RULES = ("evidence_rule", "lease_minutes")
ORDER = ("order", "batch_size", "questions", "set", "audit")
NAMED = ("seed", *RULES, "order", "batch_size", "audit")  # as open_campaign names them, which has the defaults


class Command(ShellCommand):
    help = (
        "Open a campaign: make an item with two slots for every pooled triple that people judge, all at once or in "
        "batches. A second run changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--seed", type=int, default=0, help="seed of the order of questions")
        parser.add_argument(
            "--evidence-rule",
            choices=EvidenceRule.values,
            help="answers that need evidence: both (yes and no), yes, or never (default both)",
        )
        parser.add_argument(
            "--lease-minutes", type=int, help="minutes for which a person holds a question (default 15)"
        )
        parser.add_argument("--order", choices=list(ORDERS), help=f"order of judging (default {DEFAULT_ORDER})")
        parser.add_argument("--batch-size", type=int, help="triples released at a time (default 0: everything at once)")
        add_order_options(parser, "whole questions (default), or single triples")
        parser.add_argument("--audit", type=float, help="share of the filtered triples to add as an audit sample")

    def handle(self, *args: Any, **options: Any) -> str | None:
        pool = get_pool(options["pool"])
        present = Campaign.objects.filter(pool=pool).first()
        if present is not None:
            self.stdout.write(f"{pool.name}: the campaign is already open, with {present.items.count():,} items")
            if any(options[name] is not None for name in RULES):
                raise CommandError("Its rules were left as they are: change them on the page of the campaign.")
            if any(options[name] is not None for name in ORDER):
                raise CommandError("Its order was left as it is: change it by set_order or draw_audit.")
            return None
        ticker = Ticker(self.stderr)
        campaign = open_campaign(
            pool,
            order_settings=read_settings(options["set"] or []),
            whole_questions=options["questions"] != "single",
            progress=lambda done, total: ticker("items", done, total),
            **{name: options[name] for name in NAMED if options[name] is not None},
        )
        groups, later = campaign.items.values("group").distinct().count(), unreleased(pool).count()
        rest = f", {later:,} triples to come in batches" if later else ""
        return f"{pool.name}: campaign open, {campaign.items.count():,} items in {groups:,} questions{rest}"

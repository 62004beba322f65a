"""Have people judge a sample of the triples that filters took."""

from argparse import ArgumentParser
from typing import Any

from annotation.management.campaign_command import CampaignCommand
from annotation.models import Campaign
from annotation.release.audit_sample import draw_audit


class Command(CampaignCommand):
    help = (
        "Draw an audit sample: a random share of the filtered triples, at least one of each filter. People label them "
        "without knowing. Earlier draws count, so a second run adds nothing."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--share", type=float, default=0.05, help="share of each filter's triples (default 0.05)")
        parser.add_argument("--seed", type=int, default=0)

    def act(self, campaign: Campaign, options: dict[str, Any]) -> str:
        drawn = draw_audit(campaign, options["share"], seed=options["seed"])
        among = f". {drawn.among}" if drawn.added else ""
        return f"{drawn.added:,} filtered triples drawn, {drawn.total:,} in the sample{among}"

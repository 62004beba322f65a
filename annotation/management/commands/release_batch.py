"""Release the next triples of a campaign to people."""

from argparse import ArgumentParser
from typing import Any

from annotation.management.campaign_command import CampaignCommand
from annotation.models import Campaign
from annotation.release.next_batch import release_next, unreleased
from annotation.release.settings import set_order


class Command(CampaignCommand):
    help = (
        "Release the next batch now, even if a budget or target holds it back. Normally, a batch is released when "
        "somebody has nothing left to label."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--all", action="store_true", help="release everything that is left, without batches")

    def act(self, campaign: Campaign, options: dict[str, Any]) -> str:
        before = unreleased(campaign.pool).count()
        if options["all"]:
            set_order(campaign, order=campaign.order, settings=campaign.order_settings, batch_size=0)
        else:
            release_next(campaign)
        left = unreleased(campaign.pool).count()
        return f"{before - left:,} triples released, {left:,} left"

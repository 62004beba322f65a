"""Release the next triples of a campaign to people."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation.campaigns.opening import get_campaign
from annotation.release.next_batch import release_next, unreleased
from annotation.release.settings import set_order
from core.management.shell import user_errors


class Command(BaseCommand):
    help = (
        "Release the next batch now, whatever would hold it back. Without this command a batch comes when "
        "somebody finds nothing to label."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument(
            "--all", action="store_true", help="everything that is left; from then on there are no batches"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            campaign = get_campaign(options["pool"])
            before = unreleased(campaign.pool).count()
            if options["all"]:
                set_order(campaign, order=campaign.order, settings=campaign.order_settings, batch_size=0)
            else:
                release_next(campaign)
            left = unreleased(campaign.pool).count()
        self.stdout.write(f"{campaign}: {before - left:,} triples released, {left:,} left")

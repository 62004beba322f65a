"""Base of the commands about one campaign, and the options of an order of judging that they share."""

from argparse import ArgumentParser
from typing import Any

from annotation.campaigns.lifecycle import get_campaign
from annotation.models import Campaign
from core.management.shell import ShellCommand, also_called


class CampaignCommand(ShellCommand):
    """Base of commands that take the pool of a campaign; `act` does the work and says what it did.

    `add_options` adds a command's own options after the pool.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        self.add_options(parser)

    def add_options(self, parser: ArgumentParser) -> None:
        pass

    def handle(self, *args: Any, **options: Any) -> str:
        campaign = get_campaign(options["pool"])
        return f"{campaign}: {self.act(campaign, options)}"

    def act(self, campaign: Campaign, options: dict[str, Any]) -> str:
        raise NotImplementedError


def add_order_options(parser: ArgumentParser, questions: str) -> None:
    unit = parser.add_argument("--batch-of", dest="questions", choices=["whole", "single"], help=questions)
    also_called(parser, unit, "--questions")
    parser.add_argument(
        "--set", action="append", metavar="NAME=NUMBER", help="a setting of the order; you can repeat this option"
    )

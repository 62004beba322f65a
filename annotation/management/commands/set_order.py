"""Change the order of judging of a campaign, its batches, and when they stop."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from annotation.campaigns.opening import get_campaign
from annotation.enums import TargetMeasure
from annotation.release.settings import read_settings, set_order, set_stopping
from core.management.shell import user_errors
from pooling.orders import ORDERS


class Command(BaseCommand):
    help = "Change order, batches and stopping rules from the next batch on. What is not named stays as it is."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool")
        parser.add_argument("--order", choices=list(ORDERS))
        parser.add_argument("--batch-size", type=int, help="0 releases everything that is left, now")
        parser.add_argument("--questions", choices=["whole", "single"], help="whole questions, or single triples")
        parser.add_argument(
            "--set", action="append", metavar="NAME=NUMBER", help="a setting of the order; may be repeated"
        )
        parser.add_argument(
            "--budget",
            type=int,
            help="labels, given or wanted for what is released, after which no batch comes by itself; -1: none",
        )
        parser.add_argument("--target-tau", type=float, help="lower end of tau's interval; 0: none")
        parser.add_argument("--target-measure", choices=TargetMeasure.values)

    def handle(self, *args: Any, **options: Any) -> None:
        with user_errors():
            campaign = get_campaign(options["pool"])
            order = options["order"] or campaign.order
            # settings of one order are none of another
            settings = campaign.order_settings if order == campaign.order else {}
            if options["set"] is not None:
                settings = read_settings(options["set"])
            size, budget, tau = options["batch_size"], options["budget"], options["target_tau"]
            with transaction.atomic():  # all of it or nothing
                changed = set_stopping(
                    campaign,
                    budget=campaign.budget if budget is None else None if budget == -1 else budget,
                    target_tau=campaign.target_tau if tau is None else tau or None,
                    target_measure=options["target_measure"] or campaign.target_measure,
                )
                changed += set_order(
                    campaign,
                    order=order,
                    settings=settings,
                    batch_size=campaign.batch_size if size is None else size,
                    whole_questions=options["questions"] and options["questions"] == "whole",
                )
        words = ", ".join(name.replace("_", " ") for name in changed)
        self.stdout.write(f"{campaign}: {f'changed {words}' if words else 'nothing was different'}")

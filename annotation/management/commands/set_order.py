"""Change the order of judging of a campaign, its batches, and when they stop."""

from argparse import ArgumentParser
from typing import Any

from django.db import transaction

from annotation.enums import TargetMeasure
from annotation.management.campaign_command import CampaignCommand, add_order_options
from annotation.models import Campaign
from annotation.release.settings import read_settings, set_order, set_stopping
from pooling.orders import ORDERS


class Command(CampaignCommand):
    help = (
        "Change order, batches and stopping rules from the next batch on. Settings that you do not give stay the same."
    )

    def add_options(self, parser: ArgumentParser) -> None:
        parser.add_argument("--order", choices=list(ORDERS), help="order of judging")
        parser.add_argument("--batch-size", type=int, help="triples released at a time; 0 releases everything now")
        add_order_options(parser, "whole questions, or single triples")
        parser.add_argument(
            "--budget",
            type=int,
            help="number of labels after which no batch is released automatically; labels that released triples still "
            "need count too; -1: no budget",
        )
        parser.add_argument(
            "--target-tau",
            type=float,
            help="release no more batches when the lower end of tau's interval reaches this value; 0: no target",
        )
        parser.add_argument(
            "--target-measure", choices=TargetMeasure.values, help="measure that ranks the systems for the target"
        )

    def act(self, campaign: Campaign, options: dict[str, Any]) -> str:
        order = options["order"] or campaign.order
        # an order does not know the settings of another
        settings = campaign.order_settings if order == campaign.order else {}
        if options["set"] is not None:
            settings = read_settings(options["set"])
        budget, tau, size = options["budget"], options["target_tau"], options["batch_size"]
        budget = campaign.budget if budget is None else None if budget == -1 else budget
        tau = campaign.target_tau if tau is None else tau or None
        size = campaign.batch_size if size is None else size
        measure = options["target_measure"] or campaign.target_measure
        whole = options["questions"] and options["questions"] == "whole"
        with transaction.atomic():  # all of it or nothing
            changed = set_stopping(campaign, budget=budget, target_tau=tau, target_measure=measure)
            changed += set_order(campaign, order=order, settings=settings, batch_size=size, whole_questions=whole)
        words = ", ".join(name.replace("_", " ") for name in changed)
        return f"changed {words}" if words else "nothing was different"

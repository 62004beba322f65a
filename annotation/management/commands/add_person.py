"""Give a person a role."""

from argparse import ArgumentParser
from typing import Any

from annotation.campaigns.lifecycle import get_campaign
from annotation.people.accounts import ROLES, add_person
from core.management.shell import ShellCommand


class Command(ShellCommand):
    help = "Give a person a role. For a new person, the command creates a password and prints it once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the account; it is created if it does not exist")
        parser.add_argument("--role", required=True, choices=ROLES, help="role of the person")
        parser.add_argument("--campaign", metavar="POOL", help="pool of the campaign, for annotator and adjudicator")

    def handle(self, *args: Any, **options: Any) -> str:
        campaign = get_campaign(options["campaign"]) if options["campaign"] else None
        user, password = add_person(options["name"], options["role"], campaign)
        where = f" of {campaign}" if campaign else ""
        made = f"; password: {password}" if password else ""
        return f"{user.username} is {options['role']}{where}{made}"

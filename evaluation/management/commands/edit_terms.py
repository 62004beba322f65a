"""Write a new version of the terms of a frozen test set, or show its versions."""

from argparse import ArgumentParser
from typing import Any

from core.management.shell import ShellCommand
from evaluation.labels.licences import in_words
from evaluation.labels.qrels import get_qrels
from evaluation.labels.terms import Creator, creator_lines, creators_of, edit_terms, given_terms
from evaluation.models import Terms
from pooling.pools.build import get_pool

TERMS = {
    "licence": "an SPDX identifier such as CC-BY-4.0, LicenseRef-NAME, or other: and any text",
    "citation": "citation of the test set",
    "creator": 'creator: "Family, Given", with an ORCID iD if there is one; repeat for each creator',
    "url": "address where others find it",
}


def add_terms(parser: ArgumentParser) -> None:
    """Add the options of terms to a command."""
    for name, text in TERMS.items():
        parser.add_argument(f"--{name}", help=text, action="append" if name == "creator" else "store")


class Command(ShellCommand):
    help = (
        "Change licence, citation, creators or address of a frozen test set. This makes a new version of its card; "
        "the judgements never change. Terms that you do not give stay the same. Without --changed, the command shows "
        "the versions."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool", help="name of the pool")
        parser.add_argument("qrels", help="name of frozen qrels")
        add_terms(parser)
        parser.add_argument("--changed", help="description of the change, in a sentence")

    def handle(self, *args: Any, **options: Any) -> str:
        qrels = get_qrels(get_pool(options["pool"]), options["qrels"])
        given = given_terms(options)
        if given or options["changed"] is not None:
            edit_terms(qrels, options["changed"] or "", **given)
        return "\n".join(_line(terms) for terms in qrels.terms.order_by("version"))


def _line(terms: Terms) -> str:
    creators: list[Creator] = creators_of(terms)
    said = (in_words(terms.licence) or "no licence", "; ".join(creator_lines(creators)), terms.url, terms.citation)
    what = " · ".join(part for part in said if part)
    return f"{terms.version}  {terms.created_at:%Y-%m-%d %H:%M}  {terms.changed or 'frozen'}: {what}"

"""Search what people who label may open: the pages of their campaigns, their account, and help for them.

It reads their roles and fixed lists only. Nothing of a graph, a pool, a system or another person is looked at, so no
text that they type can find any of it.
"""

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from config.navigation import rights_by_pool
from core.people.roles import Right
from evaluation.browse.ranked import Found, Hit, Typed, best_of, help_hits

# label, URL name, right that it needs in the campaign
CAMPAIGN = (
    (_("Adjudicate"), "adjudicate", Right.ADJUDICATE),
    (_("Disputes"), "disputes", Right.ADJUDICATE),
    (_("Annotate"), "annotate", Right.ANNOTATE),
    (_("My labels"), "my-labels", Right.ANNOTATE),
    (_("Guidelines"), "guidelines", Right.ANNOTATE),
    (_("Reported statements"), "messages", Right.ANNOTATE),
)
# label, key in KEYWORDS: a URL name, and for a part of its page the part
ACCOUNT = (
    (_("Home"), "home"),
    (_("Your keys"), "account#keys"),
    (_("Account"), "account"),
    (_("Change password"), "account-password"),
    (_("API tokens"), "account-tokens"),
    (_("Erase personal data"), "account-erase"),
    (_("Help"), "help"),
)


def search_own(text: str, person: User) -> list[Found]:
    """Return what a person who labels may open and whose name or keywords hold all words of `text`, by kind."""
    typed = Typed(text)
    found = best_of(
        [
            (_("Campaigns"), _campaigns(typed, person)),
            (_("Pages"), _account(typed)),
            (_("Help"), help_hits(typed, evaluator=False)),
        ]
    )
    if found:
        return found
    near = Typed(text, near=True)
    pages = (*_campaigns(near, person), *_account(near))
    return best_of(
        [
            (_("Pages with some of these words"), pages),
            (_("Help with some of these words"), help_hits(near, evaluator=False)),
        ]
    )


def _campaigns(typed: Typed, person: User) -> Iterator[Hit]:
    for pool, rights in rights_by_pool(person).items():
        for label, name, right in CAMPAIGN:
            if right in rights:
                yield from typed.page(name, str(label), pool, reverse(name, args=[pool]))


def _account(typed: Typed) -> Iterator[Hit]:
    for label, key in ACCOUNT:
        name, mark, part = key.partition("#")
        yield from typed.page(key, str(label), "", f"{reverse(name)}{mark}{part}")

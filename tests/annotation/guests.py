"""People who accept, and managers who act, at the same moment; test_guests runs it on a database of its own."""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, transaction  # noqa: E402

from annotation.enums import WebhookEvent  # noqa: E402
from annotation.models import Delivery, Invitation, Webhook  # noqa: E402
from annotation.people.accounts import add_person, managers, switch_off, take_role  # noqa: E402
from annotation.people.invitations import accept, accept_as_new, find_invitation, invite  # noqa: E402
from annotation.webhooks import upkeep  # noqa: E402
from annotation.webhooks.events import tell  # noqa: E402
from core.errors import GoneError, UserError  # noqa: E402
from core.models import AuditEntry  # noqa: E402

PASSWORD = "a long pass phrase"


def together(acts: Sequence[Callable[[], Any]]) -> list[str]:
    """Threads that start at once; what each was told: done, or the first word of what refused it."""
    barrier, told = threading.Barrier(len(acts)), []

    def run(act: Callable[[], Any]) -> None:
        try:
            barrier.wait()
            act()
            told.append("done")
        except (UserError, GoneError) as error:
            told.append(type(error).__name__)
        except BaseException as error:
            told.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(told)


def one_link(count: int) -> dict[str, Any]:
    """One invitation, opened by `count` people under names of their own."""
    _, token = invite("researcher")

    def guest(i: int) -> Callable[[], Any]:
        found = find_invitation(token)  # all have the page on the screen before the first accepts
        assert found is not None
        return lambda: accept_as_new(found, f"guest{i}", PASSWORD)

    told = together([guest(i) for i in range(count)])
    return {
        "told": told,
        "people": User.objects.count(),
        "roles": sum(user.groups.count() for user in User.objects.all()),
        "used": Invitation.objects.exclude(used_by=None).count(),
    }


def one_name(count: int) -> dict[str, Any]:
    """`count` invitations, all accepted under the same name."""
    found = [find_invitation(invite("researcher")[1]) for _ in range(count)]
    told = together([lambda one=one: accept_as_new(one, "guest", PASSWORD) for one in found])  # type: ignore[misc]
    left = Invitation.objects.filter(used_at=None).count()
    return {"told": told, "people": User.objects.count(), "left": left}


def signed_in(count: int) -> dict[str, Any]:
    """One invitation, accepted by `count` people who have accounts."""
    users = [User.objects.create_user(f"known{i}", password=PASSWORD) for i in range(count)]
    found = find_invitation(invite("manager")[1])
    assert found is not None
    told = together([lambda user=user: accept(found, user) for user in users])  # type: ignore[misc]
    return {"told": told, "managers": managers().count()}


def last_managers(count: int) -> dict[str, Any]:
    """`count` managers, each of whom loses role or account at the same moment: one must stay."""
    users = [add_person(f"manager{i}", "manager", password=PASSWORD)[0] for i in range(count)]
    acts: list[Callable[[], Any]] = [
        (lambda user=user: switch_off(user)) if i % 2 else (lambda user=user: take_role(user, "manager"))  # type: ignore[misc]
        for i, user in enumerate(users)
    ]
    return {"told": together(acts), "managers": managers().count()}


def removed_webhook(count: int) -> dict[str, Any]:
    """A webhook that two managers remove while `count` events are told, whose transactions take a while."""
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    boss = User.objects.create_user("boss")
    hook, _ = upkeep.add_webhook("http://127.0.0.1/hook", ["report"], None, by=boss)

    def event(i: int) -> None:
        time.sleep(0.05 * i)  # before the removal, and while it waits
        with transaction.atomic():
            tell(WebhookEvent.REPORT, None, "/")
            time.sleep(0.2)

    def remove() -> None:
        time.sleep(0.1)
        upkeep.remove_webhook(hook, by=boss)

    told = together([*[lambda i=i: event(i) for i in range(count)], remove, remove])  # type: ignore[misc]
    removed = AuditEntry.objects.filter(act="webhook-removed").count()
    return {"told": told, "removed": removed, "left": Webhook.objects.count() + Delivery.objects.count()}


def many_webhooks(count: int) -> dict[str, Any]:
    """`count` webhooks that are added at once, where one is left of those that a site may have."""
    boss, add = User.objects.create_user("adder"), upkeep.add_webhook
    acts = [lambda: add("http://127.0.0.1/hook", ["report"], None, by=boss) for _ in range(max(count, upkeep.MOST))]
    for act in acts[: upkeep.MOST - 1]:
        act()
    salt = upkeep.new_salt
    upkeep.new_salt = lambda: time.sleep(0.1) or salt()  # type: ignore[func-returns-value]  # after the count
    return {"told": together(acts[:count]), "webhooks": Webhook.objects.count()}


SCENES: dict[str, Callable[[int], dict[str, Any]]] = {
    "one_link": one_link, "one_name": one_name, "signed_in": signed_in, "last_managers": last_managers,
    "removed_webhook": removed_webhook, "many_webhooks": many_webhooks,
}  # fmt: skip

if __name__ == "__main__":
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    played: dict[str, Any] = {"vendor": connection.vendor}
    for scene in sys.argv[1:]:
        name, _, number = scene.partition(":")
        for model in (Invitation, User):  # each begins with nobody
            model.objects.all().delete()
        played[name] = SCENES[name](int(number))
    print(json.dumps(played))

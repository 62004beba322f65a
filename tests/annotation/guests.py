"""People who accept, and managers who act, at the same moment; test_guests runs it on a database of its own."""

import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection  # noqa: E402

from annotation.models import Invitation  # noqa: E402
from annotation.people.accounts import add_person, managers, switch_off, take_role  # noqa: E402
from annotation.people.invitations import accept, accept_as_new, find_invitation, invite  # noqa: E402
from core.errors import UserError  # noqa: E402

PASSWORD = "a long pass phrase"


def together(acts: Sequence[Callable[[], Any]]) -> list[str]:
    """Threads that start at once; what each was told: done, or the first word of what refused it."""
    barrier, told = threading.Barrier(len(acts)), []

    def run(act: Callable[[], Any]) -> None:
        try:
            barrier.wait()
            act()
            told.append("done")
        except UserError as error:
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


SCENES: dict[str, Callable[[int], dict[str, Any]]] = {
    "one_link": one_link, "one_name": one_name, "signed_in": signed_in, "last_managers": last_managers,
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

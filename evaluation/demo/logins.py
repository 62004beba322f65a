"""Create one login for each role of the demo, and keep the passwords in a file that only its owner can read."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth.models import User

from annotation.models import Campaign
from annotation.people.accounts import add_person
from core.people.roles import CampaignRole, SiteRole
from evaluation.demo.demo import NAME, Demo

ROLES = (SiteRole.MANAGER, SiteRole.RESEARCHER, CampaignRole.ANNOTATOR, CampaignRole.ADJUDICATOR)


class Login(NamedTuple):
    role: str
    name: str
    password: str | None  # None: it was changed, or its file is gone; only the hash is known


def login_name(role: str) -> str:
    return f"{NAME}-{role}"


def has_logins() -> bool:
    """Return whether every role has its login."""
    return User.objects.filter(username__in=map(login_name, ROLES)).count() == len(ROLES)


def create_logins(demo: Demo) -> None:
    """Create the missing logins.

    The file is written first: if this is stopped half-way, the next run gives people the passwords of the file.
    """
    kept = read_logins(demo.logins_file)
    passwords = {role: kept.get(login_name(role)) or secrets.token_hex(8) for role in ROLES}
    _write_logins(demo.logins_file, {login_name(role): password for role, password in passwords.items()})
    for role in ROLES:
        campaign = demo.campaign if role in CampaignRole.values else None
        person, _ = add_person(login_name(role), role, campaign, passwords[role], consented=True)
        if role == SiteRole.MANAGER:
            Campaign.objects.filter(pool=demo.pool, contact=None).update(contact=person)


def _write_logins(path: Path, passwords: Mapping[str, str]) -> None:
    path.unlink(missing_ok=True)  # so that the new one is made with its mode
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {password}\n" for name, password in passwords.items())


def read_logins(path: Path) -> dict[str, str]:
    """Return the passwords in the file by user name, without checking that they are still valid."""
    if not path.exists():
        return {}
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2}


def logins(demo: Demo) -> list[Login]:
    """Return a login for each role, with the password where the one in the file is still valid."""
    kept = read_logins(demo.logins_file)
    found = []
    for role in ROLES:
        user = User.objects.get(username=login_name(role))
        password = kept.get(user.username)
        holds = password is not None and user.check_password(password)
        found.append(Login(role, user.username, password if holds else None))
    return found

"""Describe the demo: what it is made of, what its stages leave behind, and one login for each role."""

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User

from annotation.models import Campaign
from annotation.people.accounts import add_person
from core.callbacks import TellStage
from core.models import Job
from core.people.roles import CampaignRole, SiteRole
from evaluation.models import Study
from evaluation.open_world.study import StudyOptions
from pooling.graphs.bundled import FamilyOptions
from pooling.models import Graph, Pool
from pooling.systems import USUAL

NAME = "demo"  # of the graph, the pool and the open-world study
FAMILY = FamilyOptions(families=7, density=0.5)
STUDY = StudyOptions(
    families=1,
    systems=("complex", "distmult", "transe", "rotate"),
    settings={"learning_rate": "0.005", "epochs": "20"},  # slow enough for a curve
)


@dataclass(frozen=True)
class DemoOptions:
    """Set the size of the demo: at most about five minutes' work on two cores."""

    family: FamilyOptions = FAMILY
    systems: tuple[str, ...] = USUAL
    overrides: Mapping[str, str] = field(default_factory=dict)  # settings other than the presets
    sample: float = 0.04
    study: StudyOptions = STUDY
    annotators: int = 5
    error_rate: float = 0.05
    leave: float = 0.1  # share of the items, and of the disputes, that is left to people


@dataclass
class Demo:
    """Hold the options, the folder and the rows of a demo, which exist once their stages are done.

    `run_jobs` has jobs done, and raises if one fails; `tell(stage, done, total)` shows progress.
    """

    run_jobs: Callable[[Sequence[Job]], object]
    tell: TellStage
    options: DemoOptions = field(default_factory=DemoOptions)
    var: Path = field(default_factory=lambda: Path(settings.VAR))

    @property
    def logins_file(self) -> Path:
        return self.var / "demo-logins.txt"

    @property
    def test_set(self) -> Path:
        return self.var / "demo-test-set"

    @cached_property
    def graph(self) -> Graph:
        return Graph.objects.get(name=NAME)

    @cached_property
    def pool(self) -> Pool:
        return Pool.objects.select_related("graph").get(name=NAME)

    @property
    def study(self) -> Study | None:
        return Study.objects.filter(name=NAME).first()

    @cached_property
    def campaign(self) -> Campaign:
        return Campaign.objects.select_related("pool__graph").get(pool=self.pool)


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
    """Create the missing logins, after the file: if this is stopped half-way, the next run uses its passwords."""
    kept = read_logins(demo.logins_file)
    passwords = {role: kept.get(login_name(role)) or secrets.token_hex(8) for role in ROLES}
    demo.logins_file.unlink(missing_ok=True)  # so that the new one is made with its mode
    handle = os.open(demo.logins_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{login_name(role)} {password}\n" for role, password in passwords.items())
    for role in ROLES:
        campaign = demo.campaign if role in CampaignRole.values else None
        person, _ = add_person(login_name(role), role, campaign, passwords[role], consented=True)
        if role == SiteRole.MANAGER:
            Campaign.objects.filter(pool=demo.pool, contact=None).update(contact=person)


def read_logins(path: Path) -> dict[str, str]:
    """Return the passwords in the file by user name, without checking that they are still valid."""
    if not path.exists():
        return {}
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2}


def logins(demo: Demo) -> list[Login]:
    """Return a login for each role, with the password where the one in the file is still valid."""
    kept, found = read_logins(demo.logins_file), []
    for role in ROLES:
        user = User.objects.get(username=login_name(role))
        password = kept.get(user.username)
        found.append(Login(role, user.username, password if password and user.check_password(password) else None))
    return found

"""The demo: the whole product on families whose truth is known. Each stage is done once and then kept."""

import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.contrib.auth.models import User

from annotation.campaigns.opening import open_campaign
from annotation.enums import Answer, CampaignRole, ItemState, SiteRole, SlotState
from annotation.messages.guidelines import current_guidelines, save_guidelines
from annotation.models import Campaign, Slot
from annotation.people.accounts import add_person
from annotation.quality.checks import gold_from_pool, gold_supply
from annotation.simulation.simulate import Simulation, simulate
from core.callbacks import TellStage
from core.enums import JobState
from core.jobs.lifecycle import start_job
from core.models import Job
from evaluation.analyses.registry import ANALYSES
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import EvaluationError, pool_table
from evaluation.labels.qrels import freeze_qrels, get_qrels
from evaluation.measures.label_state import LabelState
from evaluation.measures.values import values
from evaluation.overview import dashboard
from evaluation.sections.figure_cache import kept_part_figure, part_figure
from evaluation.sections.settings import Settings
from evaluation.test_sets.export import export_test_set
from pooling.enums import PoolingJob, PoolState, SystemState
from pooling.graphs.bundled import FamilyOptions, family_tree
from pooling.graphs.imports import closed_world, import_graph
from pooling.models import Graph, Pool
from pooling.pools.build import create_pool
from pooling.pools.kernels.filters import reason_label
from pooling.pools.report import pool_counts
from pooling.systems import USUAL
from pooling.training.train import create_systems

NAME = "demo"  # of the graph and of the pool
QRELS = "demo-v1"
MEASURE = "micro_mrr"
ROLES = (SiteRole.MANAGER, SiteRole.RESEARCHER, CampaignRole.ANNOTATOR, CampaignRole.ADJUDICATOR)
# Disputes wait until the labels in them can no longer be changed; nobody should wait long in a demo.
UNDO_MINUTES = 2
GOLD, GOLD_PERCENT = 20, 4  # gold items of each answer; how many of a hundred questions are followed by one
GUIDELINES = (
    "This is the demo: its families are made up, and no source has them. "
    "Where a link is asked for, the address of any page of Wikipedia will do."
)
FAMILY = FamilyOptions(families=7, density=0.5)


@dataclass(frozen=True)
class DemoOptions:
    """What the demo is made of: about four minutes' work on two cores at most."""

    family: FamilyOptions = FAMILY
    systems: tuple[str, ...] = USUAL
    overrides: Mapping[str, str] = field(default_factory=dict)  # settings other than the presets
    sample: float = 0.04
    annotators: int = 5
    error_rate: float = 0.05
    leave: float = 0.1  # share of the items, and of the disputes, that is left to people


class Login(NamedTuple):
    role: str
    name: str
    password: str | None  # None: it was changed, or its file is gone; only the hash is known


@dataclass
class Demo:
    """`run_jobs` has jobs done, and raises if one fails; `tell(stage, done, total)` shows progress."""

    run_jobs: Callable[[Sequence[Job]], object]
    tell: TellStage
    options: DemoOptions = field(default_factory=DemoOptions)
    var: Path = field(default_factory=lambda: Path(settings.VAR))

    def stages(self, say: Callable[[str], None]) -> None:
        """Do what is missing, stage by stage, and say what there is."""
        for number, stage in enumerate(STAGES, 1):
            lead = f"[{number}/{len(STAGES)}] {stage.title}"
            if stage.is_done(self):
                say(f"{lead}: there already")
            else:
                say(f"{lead}: {stage.about}")
                started = time.monotonic()
                stage.do(self)
                say(f"      done in {time.monotonic() - started:.1f} s")
            for line in stage.result(self):
                say(f"      {line}")

    @property
    def logins_file(self) -> Path:
        return self.var / "demo-logins.txt"

    @property
    def test_set(self) -> Path:
        return self.var / "demo-test-set"

    # The rows are there once their stages are done.
    @cached_property
    def graph(self) -> Graph:
        return Graph.objects.get(name=NAME)

    @cached_property
    def pool(self) -> Pool:
        return Pool.objects.select_related("graph").get(name=NAME)

    @cached_property
    def campaign(self) -> Campaign:
        return Campaign.objects.select_related("pool__graph").get(pool=self.pool)


# -- graph ---------------------------------------------------------------------------------------------------


def _graph_done(demo: Demo) -> bool:
    graph = Graph.objects.filter(name=NAME).first()
    if graph is not None and not graph.has_closed_world:
        raise EvaluationError(
            f"There is a graph {NAME} that is none of families, so the demo cannot use its name. "
            "Run the demo in a folder of its own: TRIPLEPOOL_VAR=/some/folder make demo."
        )
    return graph is not None


def _graph(demo: Demo) -> None:
    family = demo.options.family
    import_graph(
        NAME,
        family_tree(family),
        options={"family_tree": vars(family)},
        progress=lambda stage, done, total: demo.tell(stage, done, total),
    )


def _graph_result(demo: Demo) -> list[str]:
    graph = demo.graph
    known = graph.num_train + graph.num_valid + graph.num_test
    facts = len(closed_world(graph))
    return [
        f"{graph.num_entities:,} people, {graph.num_relations} relations; "
        f"{known:,} of {facts:,} true triples known: "
        f"{graph.num_train:,} train, {graph.num_valid:,} valid, {graph.num_test:,} test"
    ]


# -- systems -------------------------------------------------------------------------------------------------


def _systems_done(demo: Demo) -> bool:
    trained = demo.graph.systems.filter(name__in=demo.options.systems, state=SystemState.TRAINED)
    return trained.count() == len(demo.options.systems)


def _systems(demo: Demo) -> None:
    systems = create_systems(demo.graph, demo.options.systems, demo.options.overrides)
    waiting = [system for system in systems if system.state != SystemState.TRAINED]
    demo.run_jobs([start_job(PoolingJob.TRAIN, system=system) for system in waiting])


def _systems_result(demo: Demo) -> list[str]:
    found = demo.graph.systems.filter(name__in=demo.options.systems).order_by("id")
    reached = ", ".join(f"{system.name} {system.validation_mrr:.3f}" for system in found)
    return [f"{len(found)} systems; validation MRR {reached}"]


# -- pool and filter -----------------------------------------------------------------------------------------


def _pool_done(demo: Demo) -> bool:
    pool = Pool.objects.filter(name=NAME).first()
    if pool is not None and pool.graph_id != demo.graph.pk:
        raise EvaluationError(f"There is a pool {NAME} of another graph, so the demo cannot use its name.")
    if pool is None or pool.state != PoolState.READY:
        return False
    return pool.jobs.filter(kind=PoolingJob.BUILD_POOL, state=JobState.DONE).exists()


def _pool(demo: Demo) -> None:
    pool = Pool.objects.filter(name=NAME).first() or create_pool(
        demo.graph, name=NAME, systems=demo.options.systems, sample=demo.options.sample
    )
    demo.run_jobs([start_job(PoolingJob.BUILD_POOL, pool=pool)])


def _pool_result(demo: Demo) -> list[str]:
    counts = pool_counts(demo.pool)
    reasons = ", ".join(f"{reason_label(key)} {n:,}" for key, n in counts["by_reason"].items())
    return [
        f"{counts['seeds']:,} seed triples, {counts['pooled']:,} pooled triples: "
        f"{counts['filtered']:,} filtered, {counts['to_people']:,} to people",
        f"filtered: {reasons or 'none'}",
    ]


# -- campaign, people, labels --------------------------------------------------------------------------------


def _campaign_done(demo: Demo) -> bool:
    return Campaign.objects.filter(pool=demo.pool).exists()


def _campaign(demo: Demo) -> None:
    campaign = open_campaign(demo.pool, progress=lambda done, total: demo.tell("items", done, total))
    campaign.undo_minutes, campaign.gold_percent = UNDO_MINUTES, GOLD_PERCENT
    campaign.save(update_fields=["undo_minutes", "gold_percent"])
    yes, no = gold_supply(campaign)
    gold_from_pool(campaign, positives=min(GOLD, len(yes)), negatives=min(GOLD, len(no)))
    usual = current_guidelines(campaign)
    save_guidelines(campaign, f"{GUIDELINES}\n\n{usual.text if usual else ''}")


def _campaign_result(demo: Demo) -> list[str]:
    groups = demo.campaign.items.values("group").distinct().count()
    return [f"{demo.campaign.items.count():,} items in {groups:,} questions, two slots each"]


def _login_name(role: str) -> str:
    return f"{NAME}-{role}"


def _people_done(demo: Demo) -> bool:
    return User.objects.filter(username__in=map(_login_name, ROLES)).count() == len(ROLES)


def _people(demo: Demo) -> None:
    """The file comes first: stopped in between, the next run gives people the passwords that stand there."""
    kept = read_logins(demo.logins_file)
    passwords = {role: kept.get(_login_name(role)) or secrets.token_hex(8) for role in ROLES}
    _write_logins(demo.logins_file, {_login_name(role): password for role, password in passwords.items()})
    for role in ROLES:
        campaign = demo.campaign if role in CampaignRole.values else None
        person, _ = add_person(_login_name(role), role, campaign, passwords[role], consented=True)
        if role == SiteRole.MANAGER:
            Campaign.objects.filter(pool=demo.pool, contact=None).update(contact=person)


def _people_result(demo: Demo) -> list[str]:
    return [", ".join(_login_name(role) for role in ROLES)]


def _write_logins(path: Path, passwords: Mapping[str, str]) -> None:
    path.unlink(missing_ok=True)  # so that the new one is made with its mode
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {password}\n" for name, password in passwords.items())


def read_logins(path: Path) -> dict[str, str]:
    """Passwords by user name, as the file has them; whether they still hold, only their hashes know."""
    if not path.exists():
        return {}
    lines = (line.split() for line in path.read_text(encoding="utf-8").splitlines())
    return {line[0]: line[1] for line in lines if len(line) == 2}


def logins(demo: Demo) -> list[Login]:
    """One for each role; the password only where it is the one of the file still."""
    kept = read_logins(demo.logins_file)
    found = []
    for role in ROLES:
        user = User.objects.get(username=_login_name(role))
        password = kept.get(user.username)
        holds = password is not None and user.check_password(password)
        found.append(Login(role, user.username, password if holds else None))
    return found


def _labels_done(demo: Demo) -> bool:
    """Frozen qrels end it: what people do afterwards, and leave undone, is theirs."""
    return _qrels_done(demo)


def _labels(demo: Demo) -> None:
    truth = dict.fromkeys(map(tuple, closed_world(demo.graph).tolist()), Answer.YES)
    how = Simulation(
        truth,
        open_world=False,
        annotators=demo.options.annotators,
        error_rate=demo.options.error_rate,
        leave=demo.options.leave,
    )
    simulate(demo.campaign, how, lambda done, total: demo.tell("labels", done, total))


def _labels_result(demo: Demo) -> list[str]:
    items = demo.campaign.items
    labels = Slot.objects.filter(item__campaign=demo.campaign, state=SlotState.ANSWERED).count()
    return [
        f"{labels:,} labels; left to people: {items.filter(state=ItemState.OPEN).count():,} items to label, "
        f"{items.filter(state=ItemState.DISPUTED).count():,} to adjudicate"
    ]


# -- measures, qrels, test set -------------------------------------------------------------------------------


def _measures_done(demo: Demo) -> bool:
    return all(
        kept_part_figure(demo.pool, analysis, part, Settings()) is not None
        for analysis in ANALYSES
        for part in analysis.parts
    )


def _measures(demo: Demo) -> None:
    """Every figure is kept, so that its page is there at once."""
    dashboard.overview(demo.pool, MEASURE)
    parts = [(analysis, part) for analysis in ANALYSES for part in analysis.parts]
    for i, (analysis, part) in enumerate(parts):
        demo.tell("figures", i, len(parts))
        part_figure(demo.pool, analysis, part, Settings())


def _measures_result(demo: Demo) -> list[str]:
    overview = dashboard.overview(demo.pool, MEASURE)
    truth = true_values(demo.pool, MEASURE)
    order = sorted(truth.values(), reverse=True)
    lines = [f"{overview['measure'].label:12}{'seeds only':>14}{'current labels':>18}{'closed world':>16}"]
    for place in sorted((line.place for line in overview["lines"]), key=lambda place: place.sparse):
        value = truth[place.system]
        cells = (
            (place.sparse, place.sparse_value, 14),
            (place.completed, place.completed_value, 18),
            (1 + order.index(value), value, 16),
        )
        row = "".join(f"{dashboard.ordinal(at) + f'  {score:.3f}':>{width}}" for at, score, width in cells)
        lines.append(f"{place.system:12}{row}")
    return [*lines, overview["sentence"]]


def true_values(pool: Pool, measure: str) -> dict[str, float]:
    """A measure of every system if each pooled triple were judged without an error, filtered ones too."""
    table = pool_table(pool)
    chosen = label_set(pool, table, "seeds")
    shape = (table.graph.num_entities, table.graph.num_relations, table.graph.num_entities)
    facts = np.ravel_multi_index(tuple(closed_world(pool.graph).T), shape)
    is_true = np.isin(np.ravel_multi_index(tuple(table.triples.T), shape), facts)
    state = chosen.state.copy()
    pooled = table.pooled_id > 0
    state[pooled] = np.where(is_true[pooled], LabelState.POSITIVE, LabelState.NEGATIVE)
    means = values(table.pool, state, [measure])[measure].mean()
    return dict(zip(table.systems, means.tolist(), strict=True))


def _qrels_done(demo: Demo) -> bool:
    return demo.pool.qrels.filter(name=QRELS).exists()


def _qrels(demo: Demo) -> None:
    freeze_qrels(demo.pool, QRELS)


def _qrels_result(demo: Demo) -> list[str]:
    qrels = get_qrels(demo.pool, QRELS)
    return [f"{qrels}: {qrels.counts_in_words}"]


def _test_set_done(demo: Demo) -> bool:
    return (demo.test_set / "CHECKSUMS.sha256").exists()


def _test_set(demo: Demo) -> None:
    export_test_set(get_qrels(demo.pool, QRELS), demo.test_set)


def _test_set_result(demo: Demo) -> list[str]:
    return [f"{len(list(demo.test_set.iterdir()))} files in {demo.test_set}"]


class Stage(NamedTuple):
    title: str
    about: str
    is_done: Callable[[Demo], bool]
    do: Callable[[Demo], None]
    result: Callable[[Demo], list[str]]


STAGES = (
    Stage("Graph", "drawing families, of whose facts half are known", _graph_done, _graph, _graph_result),
    Stage("Systems", "training six on it", _systems_done, _systems, _systems_result),
    Stage("Pool and filter", "gathering the first candidates", _pool_done, _pool, _pool_result),
    Stage("Campaign", "making items of what people judge", _campaign_done, _campaign, _campaign_result),
    Stage("People", "one login for each role", _people_done, _people, _people_result),
    Stage("Labels", "simulated people, one answer in twenty wrong", _labels_done, _labels, _labels_result),
    Stage("Measures", "two rankings, and how stable they are", _measures_done, _measures, _measures_result),
    Stage("Qrels", "freezing the judgements", _qrels_done, _qrels, _qrels_result),
    Stage("Test set", "writing it to a folder", _test_set_done, _test_set, _test_set_result),
)  # fmt: skip

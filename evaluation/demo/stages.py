"""Run the demo stage by stage: the whole product on families whose truth is known. A finished stage is kept."""

import time
from collections.abc import Callable
from typing import NamedTuple

from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import Answer, ItemState, SlotState
from annotation.messages.guidelines import current_guidelines, save_guidelines
from annotation.models import Campaign, Slot
from annotation.quality.checks import gold_from_pool, gold_supply
from annotation.simulation.simulate import Simulation, simulate
from core.enums import JobState
from core.jobs.lifecycle import start_job
from evaluation.demo import results
from evaluation.demo.demo import NAME, ROLES, Demo, create_logins, has_logins, login_name
from evaluation.labels.pool_table import EvaluationError
from evaluation.open_world.study import create_study, prepare_study, start_study
from pooling.enums import PoolingJob, PoolState, SystemState
from pooling.graphs.bundled import family_tree
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import closed_world_triples
from pooling.models import Graph, Pool
from pooling.pools.build import create_pool
from pooling.pools.kernels.filters import reason_label
from pooling.pools.report import pool_counts
from pooling.training.train import create_systems

# Disputes wait until the labels in them can no longer be changed; nobody should wait long in a demo.
UNDO_MINUTES = 2
GOLD, GOLD_PERCENT = 20, 4  # gold items of each answer; gold items per 100 questions
GUIDELINES = (
    "This is the demo: its families are made up, and no source has them. "
    "Here, and only here, the facts on the cards are the evidence: answer Yes or No where they decide, "
    "and Can't tell where they do not. "
    "Where a link is asked for, the address of any page of Wikipedia will do. Nothing depends on the answers."
)


class Stage(NamedTuple):
    title: str
    about: str
    is_done: Callable[[Demo], bool]
    do: Callable[[Demo], None]
    result: Callable[[Demo], list[str]]


def run_stages(demo: Demo, say: Callable[[str], None]) -> None:
    """Do what is missing, stage by stage, and say what there is."""
    for number, stage in enumerate(STAGES, 1):
        lead = f"[{number}/{len(STAGES)}] {stage.title}"
        if stage.is_done(demo):
            say(f"{lead}: there already")
        else:
            say(f"{lead}: {stage.about}")
            started = time.monotonic()
            stage.do(demo)
            say(f"      done in {time.monotonic() - started:.1f} s")
        for line in stage.result(demo):
            say(f"      {line}")


def _graph_done(demo: Demo) -> bool:
    graph = Graph.objects.filter(name=NAME).first()
    if graph is not None and not graph.has_closed_world:
        raise EvaluationError(
            f"There is a graph {NAME} that does not consist of families, so the demo cannot use its name. "
            "Run the demo in a folder of its own: TRIPLEPOOL_VAR=/some/folder make demo."
        )
    return graph is not None


def _graph(demo: Demo) -> None:
    family = demo.options.family
    import_graph(NAME, family_tree(family), options={"family_tree": vars(family)}, progress=demo.tell)


def _graph_result(demo: Demo) -> list[str]:
    graph = demo.graph
    known = graph.num_train + graph.num_valid + graph.num_test
    size = f"{graph.num_entities:,} people, {graph.num_relations} relations"
    splits = f"{graph.num_train:,} train, {graph.num_valid:,} valid, {graph.num_test:,} test"
    return [f"{size}; {known:,} of {len(closed_world_triples(graph)):,} true triples known: {splits}"]


def _systems_done(demo: Demo) -> bool:
    trained = demo.graph.systems.filter(name__in=demo.options.systems, state=SystemState.TRAINED)
    return trained.count() == len(demo.options.systems)


def _systems(demo: Demo) -> None:
    systems = create_systems(demo.graph, demo.options.systems, demo.options.overrides)
    waiting = [system for system in systems if system.state != SystemState.TRAINED]
    demo.run_jobs([start_job(PoolingJob.TRAIN, system=system) for system in waiting])


def _systems_result(demo: Demo) -> list[str]:
    found = demo.graph.systems.filter(name__in=demo.options.systems).order_by("id")
    reached = [f"{system.name} {system.validation_mrr:.3f}" for system in found]
    return [f"{len(reached)} systems; validation MRR {', '.join(reached)}"]


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


def _people_result(demo: Demo) -> list[str]:
    return [", ".join(map(login_name, ROLES))]


def _labels(demo: Demo) -> None:
    truth = dict.fromkeys(map(tuple, closed_world_triples(demo.graph).tolist()), Answer.YES)
    own = {name: getattr(demo.options, name) for name in ("annotators", "error_rate", "leave")}
    simulate(
        demo.campaign, Simulation(truth, open_world=False, **own), lambda done, total: demo.tell("labels", done, total)
    )


def _labels_result(demo: Demo) -> list[str]:
    items = demo.campaign.items
    labels = Slot.objects.filter(item__campaign=demo.campaign, state=SlotState.ANSWERED).count()
    return [
        f"{labels:,} labels; left to people: {items.filter(state=ItemState.OPEN).count():,} items to label, "
        f"{items.filter(state=ItemState.DISPUTED).count():,} to adjudicate"
    ]


def _study_done(demo: Demo) -> bool:
    wanted = len(demo.options.study.densities) * len(demo.options.study.systems)
    return demo.study is not None and demo.study.runs.exclude(sha256="").count() == wanted


def _study(demo: Demo) -> None:
    study = demo.study or create_study(NAME, demo.options.study)
    prepare_study(study, demo.tell)
    demo.run_jobs(start_study(study))


def _study_result(demo: Demo) -> list[str]:
    asked = demo.options.study
    densities = ", ".join(f"{100 * density:g} %" for density in asked.densities)
    return [f"{', '.join(asked.systems)}, each with {densities} of the facts known"]


STAGES = (
    Stage("Graph", "drawing families, of whose facts half are known", _graph_done, _graph, _graph_result),
    Stage("Systems", "training six on it", _systems_done, _systems, _systems_result),
    Stage("Pool and filter", "gathering the first candidates", _pool_done, _pool, _pool_result),
    Stage("Campaign", "making items of what people judge", _campaign_done, _campaign, _campaign_result),
    Stage("People", "one login for each role", lambda demo: has_logins(), create_logins, _people_result),
    # frozen qrels end the labelling: what people do afterwards, and leave undone, is theirs
    Stage("Labels", "simulated people, one answer in twenty wrong", results.is_frozen, _labels, _labels_result),
    Stage(
        "Open-world study",
        "the same facts, ever more of them missing: what a sparse test set says of four systems",
        _study_done,
        _study,
        _study_result,
    ),
    Stage(
        "Measures",
        "two rankings, and how stable they are",
        results.figures_kept,
        results.keep_figures,
        results.rankings_in_words,
    ),
    Stage("Qrels", "freezing the judgements", results.is_frozen, results.freeze, results.qrels_in_words),
    Stage("Test set", "writing it to a folder", results.is_exported, results.export, results.test_set_in_words),
)

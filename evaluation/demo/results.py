"""Write the results of the demo: kept figures, frozen qrels, the test set, and the ranking under the whole truth."""

import numpy as np

from evaluation.demo.demo import Demo
from evaluation.labels.label_sets import label_set
from evaluation.labels.pool_table import pool_table
from evaluation.labels.qrels import freeze_qrels, get_qrels
from evaluation.measures.label_state import LabelState
from evaluation.measures.values import values
from evaluation.overview import rankings
from evaluation.pages.registry import ANALYSES, PAPERS
from evaluation.sections.figure_cache import kept_part_figure, part_figure
from evaluation.sections.settings import Settings
from evaluation.test_sets.export import export_of, export_test_set, is_there, write_zip
from evaluation.test_sets.files import ExportOptions
from pooling.graphs.opening import closed_world_triples
from pooling.models import Pool

QRELS = "demo-v1"
MEASURE = "micro_mrr"
PARTS = [(analysis, part) for analysis in (*ANALYSES, *PAPERS) for part in analysis.parts]


def figures_kept(demo: Demo) -> bool:
    return all(kept_part_figure(demo.pool, *one, Settings()) is not None for one in PARTS)


def keep_figures(demo: Demo) -> None:
    """Compute and keep every figure, so that its page opens at once."""
    rankings.overview(demo.pool, MEASURE)
    for i, (analysis, part) in enumerate(PARTS):
        demo.tell("figures", i, len(PARTS))
        part_figure(demo.pool, analysis, part, Settings())


def rankings_in_words(demo: Demo) -> list[str]:
    overview = rankings.overview(demo.pool, MEASURE)
    truth = true_values(demo.pool, MEASURE)
    order = sorted(truth.values(), reverse=True)
    lines = [f"{overview['measure'].label:12}{'seeds only':>14}{'current labels':>18}{'closed world':>16}"]
    for place in sorted((line.change for line in overview["lines"]), key=lambda place: place.sparse):
        value = truth[place.system]
        before, now = (place.sparse, place.sparse_value, 14), (place.completed, place.completed_value, 18)
        cells = before, now, (1 + order.index(value), value, 16)
        row = "".join(f"{rankings.ordinal(at) + f'  {score:.3f}':>{width}}" for at, score, width in cells)
        lines.append(f"{place.system:12}{row}")
    return [*lines, overview["sentence"]]


def true_values(pool: Pool, measure: str) -> dict[str, float]:
    """Return a measure of each system as if every pooled triple, filtered ones too, were judged correctly."""
    table = pool_table(pool)
    chosen = label_set(pool, table, "seeds")
    shape = (table.graph.num_entities, table.graph.num_relations, table.graph.num_entities)
    facts = np.ravel_multi_index(tuple(closed_world_triples(pool.graph).T), shape)
    is_true = np.isin(np.ravel_multi_index(tuple(table.triples.T), shape), facts)
    state = chosen.state.copy()
    pooled = table.pooled_id > 0
    state[pooled] = np.where(is_true[pooled], LabelState.POSITIVE, LabelState.NEGATIVE)
    means = values(table.pool, state, [measure])[measure].mean()
    return dict(zip(table.systems, means.tolist(), strict=True))


def is_frozen(demo: Demo) -> bool:
    return demo.pool.qrels.filter(name=QRELS).exists()


def freeze(demo: Demo) -> None:
    freeze_qrels(demo.pool, QRELS)


def qrels_in_words(demo: Demo) -> list[str]:
    qrels = get_qrels(demo.pool, QRELS)
    return [f"{qrels}: {qrels.counts_in_words}"]


def is_exported(demo: Demo) -> bool:
    export = demo.pool.qrels.get(name=QRELS).exports.first() if is_frozen(demo) else None
    return export is not None and is_there(export) and _has_folder(demo)


def _has_folder(demo: Demo) -> bool:
    return (demo.test_set / "CHECKSUMS.sha256").exists()


def export(demo: Demo) -> None:
    """Write the test set to a folder, and as the archive of the page Export."""
    qrels = get_qrels(demo.pool, QRELS)
    if not _has_folder(demo):
        export_test_set(qrels, demo.test_set)
    write_zip(export_of(qrels, ExportOptions()))


def test_set_in_words(demo: Demo) -> list[str]:
    return [f"{len(list(demo.test_set.iterdir()))} files in {demo.test_set}"]

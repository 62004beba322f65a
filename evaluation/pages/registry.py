"""List the pages of the evaluation, one module each: a new one is a module here and its entry in ANALYSES.

PAPERS are pages too: the tables and figures of one paper, in its order.
"""

from evaluation.analyses import (
    accumulation,
    correlation,
    depth,
    discriminative,
    measures,
    multiplicities,
    relations,
    stability,
)
from evaluation.audit_sample import sections as audit
from evaluation.classification import sections as classification
from evaluation.estimates import sections as estimates
from evaluation.labels.pool_table import EvaluationError
from evaluation.max_k import sections as max_k
from evaluation.open_world import sections as open_world
from evaluation.papers import paper_001, paper_002, paper_003, paper_004
from evaluation.planning import sections as planning
from evaluation.probe import sections as probe
from evaluation.reusability import sections as reusability
from evaluation.sections.section import Analysis

ANALYSES: tuple[Analysis, ...] = (
    measures.ANALYSIS, correlation.ANALYSIS, depth.ANALYSIS, accumulation.ANALYSIS, stability.ANALYSIS,
    discriminative.ANALYSIS, relations.ANALYSIS, multiplicities.ANALYSIS, planning.ANALYSIS,
    reusability.ANALYSIS, estimates.ANALYSIS, audit.ANALYSIS,
    classification.ANALYSIS, max_k.ANALYSIS, probe.ANALYSIS, open_world.ANALYSIS,
)  # fmt: skip


PAPERS: tuple[Analysis, ...] = (
    paper_001.ANALYSIS,
    paper_002.ANALYSIS,
    paper_003.ANALYSIS,
    paper_004.ANALYSIS,
)  # their keys are paper-NUMBER


GROUPS = ("Ranking", "Reliability", "Coverage", "Lenses")  # of analyses, in the sidebar and below the results


def by_group() -> dict[str, list[Analysis]]:
    """Return the analyses of each group, in their order."""
    return {group: [analysis for analysis in ANALYSES if analysis.group == group] for group in GROUPS}


def get_analysis(key: str) -> Analysis:
    """Return the analysis, or the page of a paper, of that name; EvaluationError names the known ones."""
    by_key = {analysis.key: analysis for analysis in (*ANALYSES, *PAPERS)}
    if key not in by_key:
        raise EvaluationError(f"There is no analysis {key!r}; there are {', '.join(by_key)}.")
    return by_key[key]

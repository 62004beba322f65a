"""The pages of the evaluation, one module each. A new one is a module here and its entry in ANALYSES."""

from evaluation.domain.analyses import (
    accumulation,
    audit,
    correlation,
    depth,
    discriminative,
    estimates,
    max_k,
    measures,
    multiplicities,
    open_world,
    planning,
    probe,
    relations,
    reusability,
    stability,
)
from evaluation.domain.analysis import Analysis

ANALYSES: tuple[Analysis, ...] = (
    measures.ANALYSIS, correlation.ANALYSIS, depth.ANALYSIS, accumulation.ANALYSIS, stability.ANALYSIS,
    discriminative.ANALYSIS, relations.ANALYSIS, multiplicities.ANALYSIS, planning.ANALYSIS,
    reusability.ANALYSIS, estimates.ANALYSIS, audit.ANALYSIS,
    max_k.ANALYSIS, probe.ANALYSIS, open_world.ANALYSIS,
)  # fmt: skip

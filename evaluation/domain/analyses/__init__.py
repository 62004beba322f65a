"""The pages of the evaluation, one module each. A new one is a module here and its entry in ANALYSES."""

from evaluation.domain.analyses import (
    accumulation,
    correlation,
    depth,
    discriminative,
    measures,
    multiplicities,
    relations,
    stability,
)
from evaluation.domain.analysis import Analysis

ANALYSES: tuple[Analysis, ...] = (
    measures.ANALYSIS, correlation.ANALYSIS, depth.ANALYSIS, accumulation.ANALYSIS, stability.ANALYSIS,
    discriminative.ANALYSIS, relations.ANALYSIS, multiplicities.ANALYSIS,
)  # fmt: skip

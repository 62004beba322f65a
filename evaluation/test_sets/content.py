"""Collect what the files of a test set are written from, and choose what they hold."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from annotation.quality.kernel import Agreement
from evaluation.labels.frozen import Frozen
from evaluation.labels.pool_table import PoolTable
from evaluation.models import Qrels
from evaluation.test_sets.labels import LabelColumns
from evaluation.test_sets.tables import Sums, measured, positives
from pooling.graphs.kernels.graph_arrays import GraphArrays


class ExportOptions(NamedTuple):
    """Choose what a test set holds; each field is a column of Export."""

    with_runs: bool = True
    with_evidence: bool = True
    positives_only: bool = False
    strict: bool = False

    @property
    def left_out(self) -> list[str]:
        """Say in words what was asked to be left out or taken otherwise."""
        words = {
            "without runs": not self.with_runs,
            "without evidence": not self.with_evidence,
            "positives only": self.positives_only,
            "strict": self.strict,
        }
        return [word for word, holds in words.items() if holds]


EVERYTHING = ExportOptions()


@dataclass(frozen=True)
class Content:
    """Hold frozen qrels with their graph, labels and systems, for the writers of files."""

    qrels: Qrels
    graph: GraphArrays
    whole: Frozen  # all triples
    frozen: Frozen  # those that the export holds
    systems: list[str]
    all_labels: LabelColumns  # of the whole
    agreement: tuple[Agreement, int]  # of the whole; computed first of all, while little else is in memory
    options: ExportOptions

    @cached_property
    def labels(self) -> LabelColumns:
        """Return the labels of the triples that the export holds."""
        return self.all_labels.keep(positives(self.whole)) if self.options.positives_only else self.all_labels

    @cached_property
    def measures(self) -> tuple[PoolTable, Sums] | None:
        """Return the measures of the systems by question; None without systems."""
        return measured(self.qrels) if self.systems else None

"""Store qrels, exports, computed figures and open-world studies."""

from evaluation.models.export import Export
from evaluation.models.figure import Figure
from evaluation.models.qrels import Qrels
from evaluation.models.study import Study, StudyRun

__all__ = ["Export", "Figure", "Qrels", "Study", "StudyRun"]

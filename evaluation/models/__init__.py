from evaluation.models.figure import Figure
from evaluation.models.qrels import Qrels
from evaluation.models.study import Study, StudyRun

__all__ = ["Figure", "Qrels", "Study", "StudyRun"]

from evaluation.models.figure import Figure
from evaluation.models.qrels import Qrels

__all__ = ["Figure", "Qrels"]

"""What an evaluation page is asked for: label sets, measures, tests. Parsed from an address, written into one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from evaluation.labels.label_sets import parse_time
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import MEASURES, parse_measure

RANKING = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
QUESTION_SETS = ("grown", "original")
ASSUMED = ("judged", "unjudged")
ANSWERS = ("raw", "filtered")
MOST_MEASURES = 24
MOST_SHARP = 10.0  # of sharpness and robustness: beyond it only rank 1, or the least popular answers, count
_LIST = "measures"


@dataclass(frozen=True)
class Settings:
    """Every setting has a default, so that a bare address is a good page."""

    labels: str = "current"  # the label set that is looked at
    against: str = "seeds"  # the one that it is compared with
    measure: str = "micro_mrr"
    measures: tuple[str, ...] = RANKING
    questions: str = "grown"  # or original: the questions of the seeds
    assumed: str = "judged"  # whether filtered triples count as judged negatives
    alpha: float = 0.05
    k: int = 10
    seed: int = 7
    share: float = 0.9  # judged share of its first candidates from which a system that was not pooled is comparable
    sharpness: float = 1.0  # of PROBE: how strictly a rank is scored
    robustness: float = 0.0  # of PROBE: how much the weight of popular answers falls
    answers: str = "raw"  # of max-k: whether answers of train and valid are right too, or filtered: wrong
    system: str = ""  # the one that is looked at closely; empty: the best

    @property
    def assumed_is_judged(self) -> bool:
        return self.assumed == "judged"

    def query(self, taken: Collection[str]) -> str:
        """Those of `taken` that are not the default, for an address; the same settings give the same text."""
        changed = [
            (f.name, getattr(self, f.name))
            for f in fields(self)
            if f.name in taken and getattr(self, f.name) != f.default
        ]
        return urlencode([(name, ",".join(value) if name == _LIST else value) for name, value in changed])


def parse_settings(given: Mapping[str, Any], taken: Collection[str]) -> Settings:
    """The settings that an address asks for; EvaluationError that says what is wrong with which.

    `measures` may be given several times or with commas. `labels` or `against` may be "until" with the time apart,
    as a form sends it (labels_until). What is not `taken` is ignored; label sets are looked up later.
    """
    found: dict[str, Any] = {}
    for name in taken:
        values = given.getlist(name) if hasattr(given, "getlist") else [given[name]] if name in given else []
        values = [value.strip() for value in values if value.strip()]
        if values:
            found[name] = _parse(name, values, given)
    return Settings(**found)


def _parse(name: str, values: list[str], given: Mapping[str, Any]) -> Any:
    value = values[-1]
    if name in ("labels", "against"):
        if "\0" in value:
            raise EvaluationError(f"{name} holds a character that no label set has.")
        when = str(given.get(f"{name}_until", "")) if value == "until" else value.removeprefix("until:")
        if value == "until" or when != value:  # one way to write a time: in UTC, without its zone
            return f"until:{parse_time(when.strip()).replace(tzinfo=None).isoformat(timespec='seconds')}"
        return value[:200]
    if name == "measure":
        return _measure(value)
    if name == "measures":
        names = tuple(dict.fromkeys(_measure(part) for text in values for part in text.split(",") if part.strip()))
        if len(names) > MOST_MEASURES:
            raise EvaluationError(f"{len(names)} measures were chosen: choose at most {MOST_MEASURES}.")
        return names or RANKING
    if name == "questions":
        return _one_of(name, value, QUESTION_SETS)
    if name == "assumed":
        return _one_of(name, value, ASSUMED)
    if name == "answers":
        return _one_of(name, value, ANSWERS)
    if name == "system":
        return value[:200]
    if name == "alpha":
        return _number(name, value, float, 0.0001, 0.5)
    if name == "share":
        return _number(name, value, float, 0, 1)
    if name in ("sharpness", "robustness"):
        return _number(name, value, float, 0, MOST_SHARP)
    return _number(name, value, int, *((1, 1000) if name == "k" else (0, 2**31 - 1)))


def _measure(text: str) -> str:
    try:
        return parse_measure(text.strip()).name
    except ValueError as error:
        raise EvaluationError(f"measure: {error}.") from error


def _one_of(name: str, value: str, known: Collection[str]) -> str:
    if value not in known:
        raise EvaluationError(f"{name} is {value[:40]!r}: choose {' or '.join(known)}.")
    return value


def _number(name: str, value: str, kind: type, low: float, high: float) -> Any:
    try:
        number = kind(value)
    except ValueError:
        number = None
    if number is None or not low <= number <= high:
        raise EvaluationError(f"{name} is {value[:40]!r}: give a number from {low:.10g} to {high:.10g}.")
    return number


def offered_measures(chosen: Collection[str]) -> list[str]:
    """The measures that a page offers: the registry's, and what was chosen beside them."""
    offered = [measure.name for measure in MEASURES]
    return [*offered, *(name for name in chosen if name not in offered)]

"""Read and write the settings of an evaluation page: label sets, measures, tests.

`parse_settings` reads them from an address, a command or a job; `Settings.query` writes them into an address.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlencode

from django import forms

from evaluation.labels.label_sets import parse_time
from evaluation.labels.pool_table import EvaluationError
from evaluation.measures.registry import MEASURES, parse_measure

RANKING = ("micro_mrr", "micro_hits@10", "macro_mrr", "macro_hits@10", "map@20", "ndcg@20")
QUESTION_SETS = ("grown", "original")
ASSUMED = ("judged", "unjudged")
ANSWERS = ("raw", "filtered")
SEEDS = ("each", "families")
TRAINING = ("fixed", "drawn")
MOST_MEASURES = 24
MOST_SHARP = 10.0  # of sharpness and robustness: beyond it only rank 1, or the least popular answers, count
_LISTS = ("measures", "systems")
MOST_SYSTEMS = 100


@dataclass(frozen=True)
class Settings:
    """Hold the settings of an evaluation page; every one has a default, so that a bare address is a good page."""

    labels: str = "current"  # the label set of the page
    against: str = "seeds"  # the label set that it is compared with
    measure: str = "micro_mrr"
    measures: tuple[str, ...] = RANKING
    questions: str = "grown"  # or original: the questions of the seeds
    assumed: str = "judged"  # whether filtered triples count as judged negatives
    alpha: float = 0.05
    k: int = 10
    seed: int = 7
    share: float = 0.9  # judged share of its first candidates that makes an unpooled system comparable
    sharpness: float = 1.0  # of PROBE: how strictly a rank is scored
    robustness: float = 0.0  # of PROBE: how much the weight of popular answers falls
    answers: str = "raw"  # of max-k: whether answers of train and valid are right too, or filtered: wrong
    seeds: str = "each"  # each seed is a system; or families: their chosen seed alone, with mean and deviation of all
    training: str = "fixed"  # whether intervals also draw one seed of each family: drawn; it needs families
    system: str = ""  # the system that is shown in detail; empty: the best
    systems: tuple[str, ...] = ()  # the systems that are compared; empty: all that were asked enough questions

    @property
    def assumed_is_judged(self) -> bool:
        return self.assumed == "judged"

    @property
    def by_family(self) -> bool:
        return self.seeds == "families"

    def query(self, taken: Collection[str]) -> str:
        """Return the settings of `taken` that are not the default, for an address: equal settings, equal text."""
        changed = [
            (f.name, getattr(self, f.name))
            for f in fields(self)
            if f.name in taken and getattr(self, f.name) != f.default
        ]
        return urlencode([(name, ",".join(value) if name in _LISTS else value) for name, value in changed])


class _Given(forms.Widget):
    """Read all values that are given for a name, without blanks; a dictionary gives one value a name."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[str]:
        values = data.getlist(name) if hasattr(data, "getlist") else [data[name]] if name in data else []
        return [value.strip() for value in values if value.strip()]


class _GivenLabels(_Given):
    """Read a label set; "until" may come with its time apart, as a form sends it (labels_until)."""

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[str]:
        values = super().value_from_datadict(data, files, name)
        return [f"until:{data.get(f'{name}_until', '')}"] if values[-1:] == ["until"] else values


class _Setting(forms.Field):
    """Read one setting from the last value that is given; without a value it has its default."""

    widget = _Given

    def __init__(self, read: Callable[[str, str], Any], widget: type[forms.Widget] = _Given) -> None:
        super().__init__(required=False, widget=widget)
        self.read = read  # name and text to the value; EvaluationError

    def to_python(self, value: list[str] | None) -> Any:
        try:
            return self.read(str(self.label), self.chosen(value)) if value else None
        except EvaluationError as error:
            raise forms.ValidationError(str(error)) from error

    def chosen(self, values: list[str]) -> str:
        return values[-1]


class _ListSetting(_Setting):
    def chosen(self, values: list[str]) -> str:
        return ",".join(values)


def _label_set(name: str, value: str) -> str:
    if "\0" in value:
        raise EvaluationError(f"{name} holds a character that no label set has.")
    if not value.startswith("until:"):
        return value[:200]
    when = parse_time(value.removeprefix("until:").strip())  # one way to write a time: in UTC, without its zone
    return f"until:{when.replace(tzinfo=None).isoformat(timespec='seconds')}"


def _measure(name: str, text: str) -> str:
    try:
        return parse_measure(text.strip()).name
    except ValueError as error:
        raise EvaluationError(f"measure: {error}.") from error


def _measures(name: str, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(_measure(name, part) for part in text.split(",") if part.strip()))
    if len(names) > MOST_MEASURES:
        raise EvaluationError(f"{len(names)} measures were chosen: choose at most {MOST_MEASURES}.")
    return names or RANKING


def _systems(name: str, text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(part.strip()[:200] for part in text.split(",") if part.strip()))
    if len(names) > MOST_SYSTEMS:
        raise EvaluationError(f"{len(names)} systems were chosen: choose at most {MOST_SYSTEMS}.")
    return tuple(sorted(names))


def _one_of(known: Collection[str]) -> Callable[[str, str], str]:
    def read(name: str, value: str) -> str:
        if value not in known:
            raise EvaluationError(f"{name} is {value[:40]!r}: choose {' or '.join(known)}.")
        return value

    return read


def _number(kind: type[float], low: float, high: float) -> Callable[[str, str], float]:
    def read(name: str, value: str) -> float:
        try:
            number = None if "_" in value else kind(value)  # Python takes 1_000 for a number
        except ValueError:
            number = None
        if number is None or not low <= number <= high:
            raise EvaluationError(f"{name} is {value[:40]!r}: give a number from {low:.10g} to {high:.10g}.")
        return number

    return read


class SettingsForm(forms.Form):
    """Check the settings that an address, a command or a job gives: a field for each of `Settings`."""

    labels = _Setting(_label_set, _GivenLabels)
    against = _Setting(_label_set, _GivenLabels)
    measure = _Setting(_measure)
    measures = _ListSetting(_measures)
    questions = _Setting(_one_of(QUESTION_SETS))
    assumed = _Setting(_one_of(ASSUMED))
    alpha = _Setting(_number(float, 0.0001, 0.5))
    k = _Setting(_number(int, 1, 1000))
    seed = _Setting(_number(int, 0, 2**31 - 1))
    share = _Setting(_number(float, 0, 1))
    sharpness = _Setting(_number(float, 0, MOST_SHARP))
    robustness = _Setting(_number(float, 0, MOST_SHARP))
    answers = _Setting(_one_of(ANSWERS))
    seeds = _Setting(_one_of(SEEDS))
    training = _Setting(_one_of(TRAINING))
    system = _Setting(lambda name, value: value[:200])
    systems = _ListSetting(_systems)

    def __init__(self, given: Mapping[str, Any], taken: Collection[str]) -> None:
        super().__init__(given)
        self.fields = {name: self.fields[name] for name in taken}
        for name, field in self.fields.items():
            field.label = name  # messages call a setting by its name in the address


def parse_settings(given: Mapping[str, Any], taken: Collection[str]) -> Settings:
    """Return the settings that an address asks for; EvaluationError says what is wrong with which.

    `measures` and `systems` may be given several times or with commas. What is not `taken` is ignored; label sets and
    systems are looked up later.
    """
    form = SettingsForm(given, taken)
    errors = form.errors  # read even where nothing is taken: it makes cleaned_data
    for name in taken:
        if name in errors:
            raise EvaluationError(str(errors[name][0]))
    return Settings(**{name: value for name, value in form.cleaned_data.items() if value is not None})


def offered_measures(chosen: Collection[str]) -> list[str]:
    """Return the measures that a page offers: those of the registry, then the other chosen ones."""
    offered = [measure.name for measure in MEASURES]
    return [*offered, *(name for name in chosen if name not in offered)]

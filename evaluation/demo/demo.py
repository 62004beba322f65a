"""Describe the demo: what it is made of, and the graph, pool and campaign that its stages leave behind."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from django.conf import settings

from annotation.models import Campaign
from core.callbacks import TellStage
from core.models import Job
from pooling.graphs.bundled import FamilyOptions
from pooling.models import Graph, Pool
from pooling.systems import USUAL

NAME = "demo"  # of the graph and of the pool
FAMILY = FamilyOptions(families=7, density=0.5)


@dataclass(frozen=True)
class DemoOptions:
    """Set the size of the demo: at most about four minutes' work on two cores."""

    family: FamilyOptions = FAMILY
    systems: tuple[str, ...] = USUAL
    overrides: Mapping[str, str] = field(default_factory=dict)  # settings other than the presets
    sample: float = 0.04
    annotators: int = 5
    error_rate: float = 0.05
    leave: float = 0.1  # share of the items, and of the disputes, that is left to people


@dataclass
class Demo:
    """Hold the options, the folder and the rows of a demo.

    `run_jobs` has jobs done, and raises if one fails; `tell(stage, done, total)` shows progress. The rows exist once
    their stages are done.
    """

    run_jobs: Callable[[Sequence[Job]], object]
    tell: TellStage
    options: DemoOptions = field(default_factory=DemoOptions)
    var: Path = field(default_factory=lambda: Path(settings.VAR))

    @property
    def logins_file(self) -> Path:
        return self.var / "demo-logins.txt"

    @property
    def test_set(self) -> Path:
        return self.var / "demo-test-set"

    @cached_property
    def graph(self) -> Graph:
        return Graph.objects.get(name=NAME)

    @cached_property
    def pool(self) -> Pool:
        return Pool.objects.select_related("graph").get(name=NAME)

    @cached_property
    def campaign(self) -> Campaign:
        return Campaign.objects.select_related("pool__graph").get(pool=self.pool)

"""Rules: closed paths that often go with a relation, each with a confidence, as AnyBURL mines them."""

from dataclasses import dataclass
from typing import ClassVar

from pooling.systems.spec import COMMON_SETTINGS, Entry, Setting


@dataclass(frozen=True, kw_only=True)
class RuleSpec(Entry):
    """Describe a system that mines rules (`pooling/rules/kernels/mining.py`) instead of learning vectors."""

    weights: ClassVar[str] = "rules.npz"

    @property
    def settings(self) -> dict[str, Setting]:
        """Return every setting of the system by name: none of those that train vectors."""
        return dict(self.extra_settings)


SPEC = RuleSpec(
    name="rules",
    label="Rule miner",
    family="rules",
    description="Mines rules such as “a parent's brother is an uncle” from the training triples, and applies them to "
    "each question.",
    source="Meilicke et al. (2019), Anytime bottom-up rule learning for knowledge graph completion, IJCAI (AnyBURL)",
    formula="max c, or 1 − Π(1 − c), over the rules r(X, Y) ← b1(X, A), b2(A, B), b3(B, Y) whose body leads from h to "
    "t; c = support / (cases of the body + pseudo count)",
    note="Rules are closed paths without constants, so AnyBURL's rules about single entities are missing. Rule bodies "
    "are searched around at most `samples` training triples of each relation, and the most frequent are counted. A "
    "body with more than `max_steps` steps is counted from a drawn share of the entities. Within these limits, mining "
    "is exact. Paths visit distinct entities, so no triple supports itself and no loop is proposed. Entities that "
    "no rule finds come last, ordered by how often training has them on this side of the relation.",
    # Large graphs: more rules, less certain ones, a bound on what each costs. FB15k-237: noisy-or MRR .259, max .243.
    extra_settings={
        "max_length": Setting(int, "largest number of atoms in the body of a rule", 1, 3, 3),
        "min_support": Setting(int, "cases that must support a rule", 1, 1_000_000, 2),
        "min_confidence": Setting(float, "rules below this confidence are dropped", 0, 1, 0.05, 0.01),
        "laplace": Setting(float, "failed cases added to every rule (pseudo count)", 0.1, 1000, 5.0),
        "max_rules": Setting(int, "rules kept for each relation, the most confident first", 1, 4000, 200, 500),
        "aggregation": Setting(
            str,
            "max: the most confident rule counts, then the next; noisy-or: all rules count as independent",
            choices=("max", "noisy-or"),
            large="noisy-or",
        ),
        "samples": Setting(int, "training triples of each relation around which paths are searched", 1, 1_000_000, 200),
        "paths": Setting(
            int, "pairs of first and last edges tried for paths of three, per such triple", 1, 1_000_000, 2000
        ),
        "candidates": Setting(
            int, "bodies of each length counted for each relation, the most frequent first", 1, 100_000, 200, 400
        ),
        "max_steps": Setting(
            int,
            "steps to count a body; longer bodies are counted from a share of the entities",
            1000,
            1_000_000_000,
            1_000_000,
            200_000,
        ),
        "validation_sample": COMMON_SETTINGS["validation_sample"],
    },
)

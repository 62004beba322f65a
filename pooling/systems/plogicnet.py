"""pLogicNet: rules with weights and an embedding model, which teach each other."""

from pooling.systems.rules import SPEC as RULES
from pooling.systems.rules import RuleSpec
from pooling.systems.spec import COMMON_SETTINGS, Setting

OF_EMBEDDING = (
    "embedding_dim", "learning_rate", "batch_size", "epochs", "num_negatives", "optimizer", "margin", "temperature",
    "decay", "validate_every", "validation_sample", "patience", "max_seconds",
)  # fmt: skip

SPEC = RuleSpec(
    name="plogicnet",
    label="pLogicNet",
    family="rules",
    description="An embedding model learns the training triples and the triples that rules derive. In return, it "
    "weighs the rules.",
    source="Qu and Tang (2019), Probabilistic logic neural networks for reasoning, NeurIPS",
    formula="s(h, r, t) + λ · σ(mean weight of the rules that derive (h, r, t)), s: score of the embedding model; "
    "without such a rule, the second part is 0",
    note="This is the paper's pLogicNet*; with rule_share = 0 it is pLogicNet. Rules have four patterns: r(X, Y) ← "
    "r(Y, X), r(X, Y) ← s(Y, X), r(X, Y) ← s(X, Y) and r(X, Y) ← s(X, A), t(A, Y). They are searched in the same way "
    "as in the rule miner, and their paths visit distinct entities. The embedding model trains in both directions of "
    "a relation, like all systems here. The setting epochs counts those of one round. A step of rule_rate is "
    "shortened if it would pass the best weights.",
    extra_settings={
        "embedding": Setting(str, "embedding model that it uses", choices=("rotate", "transe"), large="transe"),
        **{key: COMMON_SETTINGS[key] for key in OF_EMBEDDING},
        "rounds": Setting(int, "rounds in which model and rules train each other", 1, 20, 2),
        "rule_threshold": Setting(
            float, "share of a rule's cases in which it must hold, τ_rule of the paper", 0.01, 1, 0.3, 0.6
        ),
        "triple_threshold": Setting(
            float, "likelihood from which a derived triple counts as true, τ_triple of the paper", 0, 1, 0.7
        ),
        "rule_share": Setting(float, "λ: weight of the rules in the score", 0, 1000, 5.0, 0.5),
        "rule_rate": Setting(float, "step size of the rules' weights", 1e-7, 1, 1e-4),
        "rule_sweeps": Setting(int, "steps of the rules' weights in a round", 1, 100_000, 1000),
        "max_groundings": Setting(
            int, "largest number of pairs of a rule and a derived triple", 1000, 1_000_000_000, 50_000_000
        ),
        **{key: RULES.extra_settings[key] for key in ("max_rules", "samples", "candidates", "max_steps")},
    },
    small={"num_negatives": 64, "margin": 6.0, "epochs": 40, "max_rules": 1000},
    large={
        "embedding_dim": 256,
        "learning_rate": 0.003,
        "optimizer": "adam",
        "num_negatives": 256,
        "decay": 0.1,
        "epochs": 20,
        "max_rules": 1000,
        "samples": 1000,
    },
)

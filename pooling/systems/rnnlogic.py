"""RNNLogic: a recurrent network proposes rules, a predictor weighs them, and the best ones teach the network."""

from pooling.systems.rules import SPEC as RULES
from pooling.systems.rules import RuleSpec
from pooling.systems.spec import COMMON_SETTINGS, Setting

SOURCE = "Qu et al. (2021), RNNLogic: learning logic rules for reasoning on knowledge graphs, ICLR"
NOTE = (
    "The paper's entity embeddings are missing. Paths visit distinct entities, so a training triple never supports "
    "itself. Weights are fitted until they converge (L-BFGS) on at most `samples` questions of each side of a "
    "relation. Instead of a bias for each entity, the score uses how often the relation has the entity there in "
    "training. In every round, the kept rules compete with new ones. The first rules are mined, not drawn from an "
    "untrained network."
)
SETTINGS = {
    "rounds": Setting(int, "rounds in which generator and predictor train each other", 1, 50, 2),
    "proposals": Setting(int, "bodies that the generator proposes for each relation in a round", 1, 4000, 50, 150),
    "max_rules": Setting(int, "rules kept for each relation", 1, 4000, 200, 300),
    "max_length": Setting(int, "largest number of atoms in the body of a rule", 1, 3, 3),
    "generator_dim": Setting(int, "numbers per relation in the generator", 2, 4096, 128, 512),
    "hidden_dim": Setting(int, "size of the generator's hidden state", 2, 4096, 128, 256),
    "generator_epochs": Setting(int, "passes of the generator over the kept rules in a round", 1, 1000, 10, 3),
    "generator_rate": Setting(float, "step size of the generator", 1e-7, 10, 0.005, 0.002),
    "samples": Setting(
        int, "training triples used for each relation, and questions used for each of its sides", 1, 10**6, 200, 300
    ),
    "max_groundings": Setting(
        int, "largest number of groundings that weigh the rules of one side of a relation", 1000, 10**9, 1_000_000
    ),
    "smoothing": COMMON_SETTINGS["smoothing"],
    "weight_decay": Setting(float, "weight of the squared weights of rules in the loss", 0, 10, 0.03),
    **{
        key: RULES.extra_settings[key]
        for key in ("min_support", "min_confidence", "laplace", "paths", "candidates", "max_steps", "validation_sample")
    },
}

SPEC = RuleSpec(
    name="rnnlogic",
    label="RNNLogic",
    family="rules",
    description="A recurrent network proposes rules. Rules that separate right answers from others are kept, and the "
    "network learns from them.",
    source=SOURCE,
    formula="Σ w · (groundings of the rule's body from h to t) over the rules of r, plus b · log(1 + triples "
    "(·, r, t) in training)",
    note=NOTE,
    extra_settings=SETTINGS,
)

PLUS = RuleSpec(
    name="rnnlogic-plus",
    label="RNNLogic+",
    family="rules",
    description="RNNLogic with a vector for each rule instead of one weight. A network reads the sum of the vectors.",
    source=SOURCE,
    formula="f(Σ v · (groundings of the rule's body from h to t)) over the rules of r, plus b · log(1 + triples "
    "(·, r, t) in training); v depends on r and the body, f is a network",
    note=f"{NOTE} The vectors are learned last, in a round of their own.",
    extra_settings={
        **SETTINGS,
        "rule_dim": Setting(int, "numbers in the vector of a rule", 2, 512, 32),
        "vector_epochs": Setting(int, "passes over all relations that learn the vectors", 1, 10_000, 30, 20),
        "vector_rate": Setting(float, "initial step size of the vectors and their network", 1e-7, 10, 0.02),
    },
)

import pytest

from evaluation.kernels.values import FAMILIES
from evaluation.measures import MEASURES, known_names, parse_measure


def test_default_measures_of_the_dashboard():
    assert [measure.name for measure in MEASURES] == [
        "micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10",
        "macro_mr", "macro_mrr", "macro_hits@1", "macro_hits@3", "macro_hits@10",
        "map@20", "ndcg@20", "judged@10",
    ]  # fmt: skip


def test_parse_measure_fills_in_the_cutoff():
    hits = parse_measure("micro_hits@10")
    assert (hits.name, hits.label, hits.kind, hits.k) == ("micro_hits@10", "Micro Hits@10", "micro", 10)
    assert hits.formula == "mean over (q, a) of [rank(q, a) <= 10]"
    assert (hits.low, hits.high, hits.higher_is_better) == (0.0, 1.0, True)
    assert parse_measure("map").label == "MAP" and parse_measure("map@20").label == "MAP@20"
    mean_rank = parse_measure("macro_mr")
    assert (mean_rank.low, mean_rank.high, mean_rank.higher_is_better) == (1.0, None, False)


@pytest.mark.parametrize(
    "name", ["mrr", "", "micro_hits@", "micro_hits@0", "micro_hits@-1", "Micro_MRR", "map @20"]
)
def test_parse_measure_names_what_is_known(name):
    with pytest.raises(ValueError, match="micro_hits@k") as error:
        parse_measure(name)
    assert "infap" in str(error.value)


def test_parse_measure_refuses_a_missing_or_needless_cutoff():
    with pytest.raises(ValueError, match="needs a cut-off"):
        parse_measure("micro_hits")
    with pytest.raises(ValueError, match="takes no cut-off"):
        parse_measure("bpref@10")


@pytest.mark.parametrize("name", known_names())
def test_every_entry_has_two_sentences_and_no_placeholder(name):
    measure = parse_measure(name.replace("@k", "@7"))
    texts = (measure.label, measure.description, measure.formula, measure.source)
    assert all(texts) and not any("{" in text for text in texts)
    assert measure.description.count(". ") == 1 and measure.description.endswith(".")


def test_every_family_is_reachable_by_name():
    assert {name.split("@")[0] for name in known_names()} == set(FAMILIES)

import importlib
import pkgutil

import pytest

import evaluation.measures
from evaluation.measures.registry import MEASURES, REGISTRY, USUAL, known_names, parse_measure

ISSUE_4 = {  # what the issue asks for; condensed variants are checked by rule
    "micro_mr", "micro_mrr", "micro_hits@1", "micro_hits@3", "micro_hits@10",
    "macro_mr", "macro_mrr", "macro_hits@1", "macro_hits@3", "macro_hits@10",
    "map", "map@20", "ndcg@20", "p@10", "recall@10", "rprec", "bpref", "infap", "success@10", "judged@10",
    "amr", "amri", "adjusted_mrr", "z_mrr", "gmr",
}  # fmt: skip
ISSUE_7 = {"micro_log_mrr", "micro_p_mrr"}
ISSUE_19 = {"set_p", "set_r", "set_f", "set_ap", "iprec@50", "num_ret", "num_rel_ret"}
NOT_CONDENSED = {"bpref", "infap", "judged@10", "amr", "amri", "adjusted_mrr", "z_mrr", "gmr"}


def test_usual_measures_are_those_of_the_overview():
    assert [measure.name for measure in USUAL] == [
        "micro_mr",
        "micro_mrr",
        "micro_hits@1",
        "micro_hits@3",
        "micro_hits@10",
        "macro_mr",
        "macro_mrr",
        "macro_hits@1",
        "macro_hits@3",
        "macro_hits@10",
        "map@20",
        "ndcg@20",
        "judged@10",
    ]


def test_offered_measures_are_all_of_the_issue_with_their_condensed_variants():
    names = [measure.name for measure in MEASURES]
    assert len(names) == len(set(names))
    assert set(names) == ISSUE_4 | {f"condensed_{name}" for name in ISSUE_4 - NOT_CONDENSED} | ISSUE_7 | ISSUE_19
    assert set(USUAL) <= set(MEASURES)


def test_parse_measure_fills_in_the_cutoff():
    hits = parse_measure("micro_hits@10")
    assert (hits.name, hits.label, hits.kind, hits.k) == ("micro_hits@10", "Micro Hits@10", "micro", 10)
    assert hits.formula == "mean over (q, a) of [rank(q, a) <= 10]"
    assert (hits.low, hits.high, hits.higher_is_better) == (0.0, 1.0, True)
    assert parse_measure("map").label == "MAP" and parse_measure("map@20").label == "MAP@20"
    mean_rank = parse_measure("macro_mr")
    assert (mean_rank.low, mean_rank.high, mean_rank.higher_is_better) == (1.0, None, False)


@pytest.mark.parametrize("name", ["mrr", "", "micro_hits@", "micro_hits@0", "micro_hits@-1", "Micro_MRR", "map @20"])
def test_parse_measure_names_what_is_known(name):
    with pytest.raises(ValueError, match="micro_hits@k") as error:
        parse_measure(name)
    assert "infap" in str(error.value)


def test_parse_measure_refuses_a_missing_or_needless_cutoff():
    with pytest.raises(ValueError, match="needs a cut-off"):
        parse_measure("micro_hits")
    with pytest.raises(ValueError, match="takes no cut-off"):
        parse_measure("bpref@10")
    assert parse_measure("iprec@100").k == 100
    with pytest.raises(ValueError, match="from 1 to 100"):
        parse_measure("iprec@101")


@pytest.mark.parametrize("name", known_names())
def test_every_entry_has_two_sentences_and_no_placeholder(name):
    measure = parse_measure(name.replace("@k", "@7"))
    texts = (measure.label, measure.description, measure.formula, measure.parameters, measure.source)
    assert all(texts) and not any("{" in text for text in (*texts, measure.caution))
    assert measure.description.count(". ") == 1 and measure.description.endswith(".")
    assert measure.caution == "" or measure.caution.endswith(".")
    assert measure.low is None or measure.high is None or measure.low < measure.high


@pytest.mark.parametrize("row", REGISTRY.values(), ids=REGISTRY)
def test_every_cutoff_says_what_it_means(row):
    k_is_explained = row.parameters.startswith("k = {k}: ")
    assert k_is_explained == (row.cutoff != "none")
    assert k_is_explained or row.parameters == "none"


def test_parameters_name_the_cutoff_that_was_asked_for():
    assert parse_measure("micro_hits@3").parameters == "k = 3: the largest rank that is a hit"
    assert parse_measure("map").parameters == "k, optional: candidates after position k count as not returned"
    assert parse_measure("bpref").parameters == "none"


def test_measures_that_mislead_carry_a_caution():
    assert "random sample" in parse_measure("infap").caution
    assert parse_measure("bpref").caution.startswith("Without judged negatives it is recall")
    assert "do not order systems" in parse_measure("judged@10").caution
    condensed = [measure for measure in MEASURES if measure.name.startswith("condensed_")]
    assert all("unjudged candidates at the top" in measure.caution for measure in condensed)


def test_every_row_is_reachable_by_name():
    assert {name.split("@")[0] for name in known_names()} == set(REGISTRY)


def test_every_file_with_rows_is_in_the_registry():
    names = [found.name for found in pkgutil.iter_modules(evaluation.measures.__path__)]
    files = [importlib.import_module(f"evaluation.measures.{name}") for name in names]
    rows = [row.name for file in files for row in getattr(file, "ROWS", ())]
    assert sorted(rows) == sorted(REGISTRY)

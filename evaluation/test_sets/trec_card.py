"""Say on the card of a test set how trec_eval gives its figures, and how far its runs go."""

from collections.abc import Iterator

from evaluation.test_sets.trec_runs import CUT, Depth, Placed

# measures of trec_eval, how the card calls them, and the field of Depth with what they lack where lists are cut
MEASURES = (
    ("recip_rank", "macro_mrr", "mrr"), ("success.1,3,10", "macro_hits@1, @3, @10", ""), ("map", "map", "map"),
    ("map_cut.20", "map@20", ""), ("ndcg_cut.20", "ndcg@20", ""),
)  # fmt: skip
EXACT = 5e-5  # what a figure of four digits may lack


def exact_measures(depth: Depth) -> list[tuple[str, str]]:
    """Return the measures that the runs give to four digits, as trec_eval and as the card call them."""
    return [(theirs, ours) for theirs, ours, lacks in MEASURES if not lacks or getattr(depth, lacks) < EXACT]


def trec_words(depth: Depth, found: Placed, *, with_negatives: bool) -> Iterator[str]:
    """Yield the lines of the card about trec_eval."""
    exact = exact_measures(depth)
    yield "Plain trec_eval (9 or later) gives the list measures of each SYSTEM, to the last digit that it prints:"
    yield ""
    yield "```sh"
    yield "gunzip -k trec/*/*.gz"
    yield f"trec_eval -c {' '.join(f'-m {theirs}' for theirs, _ in exact)} trec/qrels.txt trec/runs/SYSTEM.txt"
    if with_negatives:
        yield "trec_eval -c -m bpref trec/qrels.txt trec/bpref/SYSTEM.txt"
        if depth.cut is None:
            yield "trec_eval -c -m infAP trec/qrels_infap.txt trec/runs/SYSTEM.txt"
    yield "```"
    yield ""
    common, every = len(found.compared), len(found.judged)
    if common < every:
        yield f"SYSTEM is one of measures.tsv. Means are over {common:,} of {every:,} questions with an answer: those"
        yield "that all these systems were asked. trec/qrels.txt has these questions, trec/qrels_all.txt has all. A run"
        yield "has every question that its system was asked; trec_eval leaves out those that the qrels lack."
    else:
        yield f"Means are over the {every:,} questions with an answer."
    yield f"In the words of this card: {', '.join(f'{theirs} is {ours}' for theirs, ours in exact)}."
    if depth.cut is None:
        yield "Lists go to the last answer, so that measures without a cut are exact too."
    else:
        yield f"Fillers end at place {CUT:,}: {depth.lost:,} of {depth.answers:,} answers lie deeper and are not in the"
        yield f"lists. recip_rank lacks {depth.mrr:.6f} at most, map {depth.map:.6f}; infAP and ndcg without a cut"
        yield "cannot be had from them. ranks/ has every place."
    yield "A place whose candidate the run did not keep has a filler (`%unknown-PLACE`). trec/qrels.txt holds"
    yield "what was judged; what was pooled and not judged is -1 in trec/qrels_infap.txt"
    yield "alone, since most tools take such a line for a judgement. Tools of TREC know no micro measures: these need"
    yield "ranks/."

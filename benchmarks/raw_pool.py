"""Pool the published seeds by both rules from systems that thirteen.py trained, beside the published pool.

    python benchmarks/raw_pool.py [--systems transe,rotate,complex,distmult,conve,hake] [--folder var/thirteen]

Writes docs/measured/raw_pool.md: sizes, triples by depth, candidates by known answers, and overlap with the published
pool. Runs hold the lists of both rules, so nothing is scored.
"""

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.fb15k237_study import Study, table
from benchmarks.thirteen import MEASURED, ROOT

DEPTH = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", default="transe,rotate,complex,distmult,conve,hake")
    parser.add_argument("--folder", type=Path, default=ROOT / "var" / "thirteen")
    arguments = parser.parse_args()
    os.environ["TRIPLEPOOL_VAR"] = str(arguments.folder.resolve())
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    study = Study(0)
    study.graph()
    study.pool()
    text = report(study, [name for name in arguments.systems.split(",") if name])
    aside = MEASURED / ".raw_pool.md.part"
    aside.write_text(text, encoding="utf-8")
    aside.replace(MEASURED / "raw_pool.md")
    print(text)


def report(study: Study, names: list[str]) -> str:
    """Compare what both rules give, as a page of Markdown."""
    from pooling.graphs.opening import open_graph
    from pooling.pools.build import gather_runs
    from pooling.pools.diagnosis import diagnose
    from pooling.pools.rows import read_rows
    from pooling.pools.seeds import seed_array
    from pooling.training.train import get_systems

    graph, seeds = open_graph(study.row), seed_array(study.found)
    systems = get_systems(study.row, names)
    published = read_rows(study.found)[1]
    pools = {
        "published": published,
        "raw": gather_runs(names, systems, seeds, DEPTH, graph, raw=True),
        "filtered": gather_runs(names, systems, seeds, DEPTH, graph, raw=False),
    }
    found = {name: diagnose(pool, seeds, graph) for name, pool in pools.items()}
    keys = {name: {tuple(triple) for triple in pool.triples.tolist()} for name, pool in pools.items()}
    theirs = keys["published"]
    heads = ["", *pools]
    sizes: list[list[object]] = [
        ["pooled triples", *map(len, keys.values())],
        ["questions with fewer than 10 candidates", *(f"{of.short / of.questions:.1%}" for of in found.values())],
        [
            "share of its triples that are in the published pool",
            "",
            *(f"{len(keys[n] & theirs) / len(keys[n]):.1%}" for n in heads[2:]),
        ],
        [
            "share of the published pool that it has",
            "",
            *(f"{len(keys[n] & theirs) / len(theirs):.1%}" for n in heads[2:]),
        ],
    ]
    by_depth = [dict(of.by_depth) for of in found.values()]
    depths = [[k, *(of.get(k, 0) for of in by_depth)] for k in range(1, DEPTH + 1)]
    known = [
        [of.known, of.questions, *(None if b is None else round(b, 1) for b in means)]
        for of, *means in zip(
            found["raw"].by_known, *([b.candidates for b in d.by_known] for d in found.values()), strict=True
        )
    ]
    scores = ", ".join(f"{system.name} {system.validation_mrr:.3f}" for system in systems)
    return (
        "\n\n".join(
            [
                "# The published seeds, pooled by both rules",
                f"`benchmarks/raw_pool.py` writes this page. It pools the {len(seeds):,} published seeds of FB15k-237"
                f" to depth {DEPTH} with systems of `benchmarks/thirteen.py` (validation MRR: {scores}). The column"
                " *published* is the pool that Zhou et al. (2022) made with six systems.",
                "## Size and overlap",
                table(heads, sizes),
                "## Triples by smallest depth",
                table(["depth", *pools], depths),
                "## Mean candidates of a question, by its known answers",
                "A candidate is a pooled triple or a seed. Known answers are those in train and valid.",
                table(["known answers", "questions", *pools], known),
            ]
        )
        + "\n"
    )


if __name__ == "__main__":
    main()

"""Read datasets that PyKEEN ships, and draw family trees."""

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings

from pooling.enums import GraphSource, Split
from pooling.graphs.kernels.family_trees import (
    RULES,
    Families,
    Growth,
    Shape,
    derive_relations,
    divide_facts,
    draw_families,
    grow_families,
)
from pooling.graphs.source_data import Codes, GraphError, GraphSourceData, SideTable, SplitRows
from pooling.graphs.tsv import read_triple_files
from pooling.questions.templates import TemplateText

# Datasets whose files are in the PyKEEN package; all others would have to be fetched.
FAMILIES = "families"  # what the graph of drawn families is called among those that come with the program
SHIPPED = {"nations": "Nations", "umls": "UMLS", "kinships": "Kinships"}


def read_pykeen(name: str) -> GraphSourceData:
    """Read a dataset that PyKEEN ships, with its own names of entities and relations."""
    folder = name.lower().replace("-", "").replace("_", "")
    if folder not in SHIPPED:
        raise GraphError(_not_shipped(name, folder))
    package = find_spec("pykeen")  # found, not imported: PyKEEN takes seconds to load
    if package is None or not package.submodule_search_locations:
        raise GraphError("PyKEEN is not installed: pip install -r requirements.txt.")
    data = Path(package.submodule_search_locations[0]) / "datasets" / folder
    return read_triple_files(GraphSource.PYKEEN, {split: data / f"{split.value}.txt" for split in Split})


def bundled_source(name: str, **family: Any) -> tuple[GraphSourceData, dict[str, Any]]:
    """Return a graph that needs no file, and the options that its row keeps.

    name: FAMILIES, drawn with the fields `family` of FamilyOptions, or a dataset of PyKEEN.
    """
    if name == FAMILIES:
        options = FamilyOptions(**family)
        return family_tree(options), {"family_tree": vars(options)}
    return read_pykeen(name), {"pykeen": name}


def _not_shipped(name: str, folder: str) -> str:
    from pykeen.datasets import dataset_resolver

    offline = ", ".join(SHIPPED.values())
    known = sorted(dataset.__name__ for dataset in dataset_resolver.lookup_dict.values())
    if folder in (dataset.lower() for dataset in known):
        return (
            f"PyKEEN would have to download {name}, and this program fetches nothing: put its train, valid "
            f"and test files into a folder and import the folder. Without a download: {offline}."
        )
    others = ", ".join(known)
    return f"PyKEEN has no dataset {name}. Without a download: {offline}; PyKEEN also knows {others}."


# --- family trees ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FamilyOptions:
    """Hold the options of the family generator; the defaults make about 300 people and 8,000 facts."""

    families: int = 6
    people: int = 60  # most people of one family
    seed: int = 42
    density: float = 0.8  # share of all facts that are in a split; the others are missing
    train_share: float = 0.7  # of the facts that are in a split
    grown: bool = False  # at anybody, upwards and downwards (kernels/family_trees.py, Growth), not from one couple

    def check(self) -> None:
        """Raise GraphError that names every value that makes no graph."""
        problems = [
            text
            for bad, text in (
                (not 1 <= self.families <= 10_000, f"families must be from 1 to 10,000, not {self.families}"),
                (not 3 <= self.people <= 1_000, f"people must be from 3 to 1,000, not {self.people}"),
                (self.seed < 0, f"seed must be 0 or more, not {self.seed}"),
                (not 0 < self.density <= 1, f"density must be above 0 and at most 1, not {self.density:g}"),
                (not 0 < self.train_share < 1, f"train share must lie within 0 and 1, not {self.train_share:g}"),
            )
            if bad
        ]
        if problems:
            raise GraphError(f"Family trees: {'; '.join(problems)}.")


def family_template(relation: str) -> TemplateText:
    """Write the questions of a family relation.

    Is … the mother of …? Whose mother is …? Who is the mother of …?
    """
    kin, gender = RULES[relation]
    noun = _family_noun(relation)
    only = kin == "spouse" or (kin == "parent" and gender)
    article = "the" if only else "an" if noun[0] in "aeiou" else "a"
    plural = f"{noun}ren" if noun.endswith("child") else f"{noun}s"
    return TemplateText(
        f"Is {{subject}} {article} {noun} of {{object}}?",
        f"Whose {noun} is {{subject}}?",
        f"Who is the {noun} of {{object}}?" if only else f"Who are the {plural} of {{object}}?",
    )


def _family_noun(relation: str) -> str:
    kin, gender = RULES[relation]
    return f"{gender} cousin" if kin == "cousin" and gender else relation.removesuffix("Of")


def family_tree(options: FamilyOptions) -> GraphSourceData:
    """Draw family trees and divide their facts; the same options give the same graph.

    Facts, names and the division have random streams of their own: the same people at every density.
    """
    options.check()
    people_rng, names_rng, division_rng = (
        np.random.default_rng(seed) for seed in np.random.SeedSequence(options.seed).spawn(3)
    )
    families = _draw(options, people_rng)
    names = draw_names(families, names_rng)
    people = [name.replace(" ", "_") for name in names]
    facts = _facts(families)
    division = divide_facts(len(facts), options.density, options.train_share, division_rng)
    parts = {Split.TRAIN: division.train, Split.VALID: division.valid, Split.TEST: division.test}
    for split, chosen in parts.items():
        if not chosen.any():
            raise GraphError(
                f"Family trees: no fact fell into {split.value} ({len(facts)} facts in all): ask for more "
                "families or people, or another density or train share."
            )
    # Very small families have no cousins, say: only relations with facts come with types and templates.
    used = set(facts[:, 1].tolist())
    present = [relation for number, relation in enumerate(RULES, len(people)) if number in used]
    genders = ["female" if female else "male" for female in families.female]
    return GraphSourceData(
        source=GraphSource.FAMILY,
        keys=[*people, *RULES],
        splits={split: SplitRows(f"{split.value} (generated)", facts[chosen]) for split, chosen in parts.items()},
        labels=SideTable("labels (generated)", list(zip(people, names, strict=True))),
        types=SideTable(
            "types (generated)",
            [(key, kind) for key, gender in zip(people, genders, strict=True) for kind in ("person", gender)],
        ),
        domain_range=SideTable(
            "domain and range (generated)", [(r, RULES[r][1] or "person", "person") for r in present]
        ),
        templates=SideTable("templates (generated)", [(r, *family_template(r)) for r in present]),
        relation_labels=SideTable("labels of relations (generated)", [(r, f"{_family_noun(r)} of") for r in present]),
        closed_world=facts,
    )


def _draw(options: FamilyOptions, rng: np.random.Generator) -> Families:
    if options.grown:
        return grow_families(options.families, Growth(people=options.people), rng)
    return draw_families(options.families, Shape(people=options.people), rng)


def _facts(families: Families) -> Codes:
    """Return all true facts int64[n, 3]: people are 0..n-1, relation i of RULES is n + i."""
    relations = derive_relations(families.parents, families.female)
    people = len(families.female)
    return np.concatenate(
        [
            np.insert(pairs.astype(np.int64), 1, people + number, axis=1)
            for number, pairs in enumerate(relations.values())
        ]
    )


def draw_names(families: Families, rng: np.random.Generator) -> list[str]:
    """Draw a different readable name for everybody; children have their father's family name."""
    lists = json.loads((settings.BASE_DIR / "fixtures" / "names.json").read_text(encoding="utf-8"))
    surnames: list[str] = []
    taken: dict[str, int] = {}
    names: list[str] = []
    for (_, father), female in zip(families.parents.tolist(), families.female.tolist(), strict=True):
        surnames.append(surnames[father] if father >= 0 else str(rng.choice(lists["family"])))
        given = rng.permutation(lists["female" if female else "male"])
        name = next((free for first in given if (free := f"{first} {surnames[-1]}") not in taken), "")
        name = name or f"{given[0]} {surnames[-1]}"
        taken[name] = taken.get(name, 0) + 1
        names.append(name if taken[name] == 1 else f"{name} {_roman(taken[name])}")
    return names


_ROMAN = ((100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text

"""The registry of systems: the models that TriplePool trains.

To add a system, write one file here that ends with its `SystemSpec` (`spec.py` says what it holds), and add it to
`SYSTEMS`. Others use `get_system`, `get_model` and `resolve_settings`. All systems are trained
with reciprocal relations, so that every question is a tail question over 2R relations.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pooling.systems import (
    analogy,
    atte,
    betae,
    bique,
    compgcn,
    conve,
    distmult,
    hake,
    hitter,
    interacte,
    plogicnet,
    proje,
    protate,
    query2box,
    rescal,
    rnnlogic,
    rotate,
    roth,
    rules,
    transe,
    transe_l1,
    tucker,
)
from pooling.systems import complex as complex_
from pooling.systems.pykeen_model import PREFIX, pykeen_model
from pooling.systems.spec import Entry, SystemSpec, Value

SYSTEMS: dict[str, Entry] = {
    spec.name: spec
    for spec in (
        transe.SPEC,
        transe_l1.SPEC,
        rotate.SPEC,
        protate.SPEC,
        hake.SPEC,
        atte.SPEC,
        roth.SPEC,
        distmult.SPEC,
        rescal.SPEC,
        complex_.SPEC,
        analogy.SPEC,
        tucker.SPEC,
        bique.SPEC,
        conve.SPEC,
        interacte.SPEC,
        proje.SPEC,
        compgcn.SPEC,
        hitter.SPEC,
        query2box.SPEC,
        betae.SPEC,
        rules.SPEC,
        plogicnet.SPEC,
        rnnlogic.SPEC,
        rnnlogic.PLUS,
    )
}
# what only models from elsewhere are (pooling/training/import_model.py); lists of what can be trained leave them out
FROM_ELSEWHERE: dict[str, Entry] = {rotate.MODULI.name: rotate.MODULI}
# what is trained unless others are asked for: classics that are quick to train on any graph
USUAL = ("transe", "rotate", "complex", "distmult", "rescal", "conve")


def get_system(name: str) -> Entry:
    """Return the system called `name`, or `pykeen:CLASS`; ValueError names those that exist."""
    if name.startswith(PREFIX):
        return pykeen_model(name)
    if name in FROM_ELSEWHERE:
        return FROM_ELSEWHERE[name]
    try:
        return SYSTEMS[name]
    except KeyError:
        raise ValueError(
            f"unknown system {name!r}{_near(name, SYSTEMS)}: the known systems are {', '.join(SYSTEMS)}"
        ) from None


def find_entry(name: str) -> Entry | None:
    """Return the system called `name`, or None if this installation does not know it. Import no torch."""
    try:
        return get_system(name)
    except ValueError:
        return None


def get_by_slug(slug: str) -> Entry:
    """Return the system with this `slug` in its addresses (transe, pykeen-PairRE); ValueError as of `get_system`."""
    of_pykeen = PREFIX.replace(":", "-")
    return get_system(PREFIX + slug.removeprefix(of_pykeen) if slug.startswith(of_pykeen) else slug)


def family_of_kind(name: str) -> str:
    """Return the family of a system; empty if this installation does not know its kind."""
    spec = find_entry(name)
    return spec.family if spec else ""


def _near(name: str, known: Iterable[str]) -> str:
    """Return what an unknown name may have meant, in brackets; empty if nothing is like it."""
    found = get_close_matches(name.lower(), known, n=1)
    return f" (did you mean {found[0]}?)" if found else ""


def get_model(name: str) -> SystemSpec:
    """Return the system called `name`, which learns vectors; ValueError if it learns none."""
    spec = get_system(name)
    if not isinstance(spec, SystemSpec):
        raise ValueError(f"{spec.label} learns no vectors")
    return spec


def resolve_settings(
    name: str, num_entities: int, num_train: int, overrides: Mapping[str, Any] | None = None
) -> dict[str, Value]:
    """Return the preset for a graph of this size, changed by `overrides` (strings or numbers).

    ValueError names the setting, the value that was given and what is allowed.
    """
    spec = get_system(name)
    settings = spec.preset(num_entities, num_train)
    for key, text in (overrides or {}).items():
        if key not in spec.settings:
            raise ValueError(
                f"{name} has no setting {key!r}{_near(key, spec.settings)}: it has {', '.join(sorted(spec.settings))}"
            )
        settings[key] = spec.settings[key].parse(key, text)
    spec.check_settings(settings)
    return settings

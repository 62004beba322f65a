"""Write docs/systems.md from the registry of systems and what was measured: python docs/write_systems.py."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "systems.md"
MEASURED = ROOT / "docs" / "systems_measured.tsv"
THIRTEEN = ROOT / "docs" / "measured"  # of benchmarks/thirteen.py
COLUMNS = ("graph", "validation MRR", "test MRR", "epochs", "seconds an epoch", "with")
EXAMPLE = ROOT / "docs" / "example_system.py"
HEAD = """# Systems

Written by `docs/write_systems.py` from the registry (`pooling/systems/`), `docs/systems_measured.tsv` and `docs/measured/`: change it there.

A system is a model with its settings and seed. All that learn vectors are trained with reciprocal relations, so that every question asks for a tail, of a relation or of its inverse; in a formula h, r and t are the vectors of head, relation and tail. Trained unless others are asked for: {usual}.

`python manage.py train_systems GRAPH --systems rotate,conve --set epochs=40 --num-seeds 3 --best` trains three seeds of each and archives all but the best by validation MRR (a tie goes to the lower seed). `--systems all` trains every one of this page, `--systems pykeen:PairRE` another model of PyKEEN's by its class name. A setting goes to those systems that have it. In the browser the systems page of a graph trains what is ticked, *Set up* gives all settings of one system, *Any other PyKEEN model* those of one by its class name, and *Compare systems* shows curves, time, memory and settings side by side.

What rests on a system must not change: one that has a run or is in a pool is not trained anew but cloned. An archived system is in no list and no new pool; the pools that use it keep it. A training whose loss diverges keeps its best epoch, and the page of the system says so. Memory is estimated before a training starts, and one that does not fit is refused with the figure. Peak memory on the pages is that of the GPU, or of the worker with its libraries.

## Files of a system

Researchers and managers take them from the page of a trained system. They come from the checkpoint of the best epoch, which is read without running code from it; nothing that people upload is unpickled.

| file | what it holds |
|---|---|
| `weights.safetensors` | all weights by name; graph, kind, seed and settings as metadata. A tensor that has several names has the first only: load with `strict=False` |
| `entities.npy` | one row an entity: its tables side by side, in order of their names in the weights; complex numbers as pairs of real and imaginary part |
| `entities.tsv` | row, key and label of each entity |
| `relations.npy` | two rows a relation: 2r where its tail is asked for, 2r + 1 where its head is |
| `relations.tsv` | row, relation, and what it asks for |

## Families

{families}

## Settings that all training has

The preset depends on the size of the graph: above {limit:.0e} scores an epoch against all entities wrong answers are drawn, below all are scored. Systems differ from these values as their sections say.

{common}
"""  # noqa: E501
ADDING = """## Adding a system

A system is one file and one line: the file in `pooling/systems/`, the line in `SYSTEMS` of `pooling/systems/__init__.py`. Pages, forms, commands, training, ranking, downloads and this page follow from its entry. The file says how the model is built, what a question becomes (`query`), what an entity is to it (`features`), and by which form the two are a score: `dot`, `euclidean`, `link` (a function of the dot product and the length of the features), `pointwise` (any function of both, coordinate by coordinate) or `model` (such a function with weights of its own). A model of PyKEEN's is built in `build`; others are tables of vectors and networks, as here, where an entity has two vectors. Import torch and pykeen inside functions, so that pages need not wait for them.

This file is `docs/example_system.py`. A test registers it, trains it on a small graph and compares its scores with the formula; a new system wants the same test, beside the others in `tests/pooling/systems/`.

```python
{example}```
"""  # noqa: E501


def text() -> str:
    from pooling.systems import SYSTEMS, USUAL
    from pooling.systems.spec import COMMON_SETTINGS, FAMILIES, LARGE, LARGE_EPOCH_SCORES, SMALL

    usual = ", ".join(SYSTEMS[name].label for name in USUAL)
    families = []
    for name, about in FAMILIES.items():
        labels = [s.label for s in SYSTEMS.values() if s.family == name]
        families.append(f"- *{name}*: {about}." + (f" {', '.join(labels)}." if labels else ""))
    rows = [
        [f"`{key}`", setting.help, setting.allowed, shown(SMALL[key]), shown(LARGE[key])]
        for key, setting in COMMON_SETTINGS.items()
    ]
    common = table(["setting", "what it does", "allowed", "small graphs", "large graphs"], rows)
    head = HEAD.format(usual=usual, families="\n".join(families), limit=LARGE_EPOCH_SCORES, common=common)
    measured = figures()
    sections = [section(spec, measured.get(spec.name, [])) for spec in SYSTEMS.values()]
    return "\n".join([head, *sections, ADDING.format(example=EXAMPLE.read_text(encoding="utf-8"))])


def section(spec: Any, measured: list[dict[str, str]]) -> str:
    """One system: what it is, its settings where they differ, and what was measured."""
    from pooling.systems.spec import COMMON_SETTINGS

    own = {key: setting for key, setting in spec.settings.items() if key not in COMMON_SETTINGS}
    parts = [f"## {spec.label}", f"`{spec.name}` · {spec.family}", spec.description]
    if spec.formula:
        parts.append(f"    {spec.formula}")
    if spec.note:
        parts.append(spec.note)
    parts.append(f"Source: {spec.source}.")
    if own:
        small, large = spec.values(large=False), spec.values(large=True)
        rows = [[f"`{key}`", of.help, of.allowed, shown(small[key]), shown(large[key])] for key, of in own.items()]
        parts.append(table(["own setting", "what it does", "allowed", "small graphs", "large graphs"], rows))
    for size, preset in (("Small", spec.small), ("Large", spec.large)):
        other = ", ".join(f"`{key}={shown(value)}`" for key, value in preset.items() if key not in own)
        if other:
            parts.append(f"{size} graphs: {other}.")
    parts.append(table(list(measured[0]), [list(row.values()) for row in measured]) if measured else "Not measured.")
    return "\n\n".join(parts) + "\n"


def figures() -> dict[str, list[dict[str, str]]]:
    """What was measured, by system; an empty cell was not."""
    found: dict[str, list[dict[str, str]]] = {}
    with MEASURED.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            name = row.pop("system")
            found.setdefault(name, []).append({key: value or "not measured" for key, value in row.items()})
    for path in sorted(THIRTEEN.glob("*.json")):
        one = json.loads(path.read_text(encoding="utf-8"))
        changed = ", ".join(f"{key}={value}" for key, value in one["changed"].items()) or "the preset"
        apart = 100 * (one["test_mrr"] / one["published_mrr"] - 1)
        row = (
            "FB15k-237",
            f"{one['validation_mrr']:.4f}",
            f"{one['test_mrr']:.4f}",
            f"{one['best_epoch']} of {one['epochs']}",
            f"{one['seconds'] / one['epochs']:.0f}",
            f"{changed}; published test MRR {one['published_mrr']:.3f}, here {apart:+.1f} % (docs/measured)",
        )
        found.setdefault(one["system"], []).append(dict(zip(COLUMNS, row, strict=True)))
    return found


def shown(value: object) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PATH.write_text(text(), encoding="utf-8")

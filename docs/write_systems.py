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
COLUMNS = ("graph", "validation MRR", "test MRR", "epochs", "seconds an epoch", "settings and conditions")
EXAMPLE = ROOT / "docs" / "example_system.py"
HEAD = """# Systems

`docs/write_systems.py` writes this page from the registry (`pooling/systems/`), `docs/systems_measured.tsv` and `docs/measured/`. Make changes there.

A system is a model with its settings and seed. Systems that learn vectors are trained with reciprocal relations: a question for the head of a relation becomes a question for the tail of its inverse. In formulas, h, r and t are the vectors of head, relation and tail. By default, these systems are trained: {usual}.

```sh
python manage.py train_systems GRAPH --systems rotate,conve --set epochs=40 --num-seeds 3 --best
```

This command trains three seeds of each system. It keeps the seed with the best validation MRR and archives the others; if two seeds tie, it keeps the lower one. `--systems all` trains every system on this page. `--systems pykeen:PairRE` trains another PyKEEN model by its class name. `--set` changes a setting of every system that has it.

In the browser, tick systems on the systems page of a graph to train them. *Set up* shows all settings of a system, *Any other PyKEEN model* those of a PyKEEN class. *Compare training* shows curves, time, memory and settings side by side.

- A system with a run or a pool cannot be trained again, because its results would change. Clone it instead.
- Lists and new pools leave out archived systems. Pools that use them keep them.
- If the loss diverges, the training keeps its best epoch, and the page of the system says so.
- Memory is estimated before a training starts. If the training does not fit, it is refused, and the message gives the estimate.
- The peak memory on the pages is that of the GPU or, without a GPU, that of the worker with its libraries.

## Files of a system

Researchers and managers download these files from the page of a trained system. They come from the checkpoint of the best epoch. The site reads checkpoints without running code in them, and never unpickles an uploaded file.

| file | what it holds |
|---|---|
| `weights.safetensors` | all weights by name, with graph, kind, seed and settings as metadata. If a tensor has several names, only the first is stored, so load with `strict=False` |
| `entities.npy` | one row per entity: the vectors from all its tables side by side, in the order of the names of the tables in the weights. A complex number is a pair of real and imaginary part |
| `entities.tsv` | row, key and label of each entity |
| `relations.npy` | two rows per relation: row 2r for tail questions, row 2r + 1 for head questions |
| `relations.tsv` | row, relation, and the side that the question asks for |

## Models from elsewhere

A model that another program trained on the same graph, with the same keys, becomes a system that is ranked like those trained here: for all entities, with rank rows and candidates. No code of its files is run.

```sh
python manage.py import_model GRAPH FOLDER --form pykeen --system theirs
```

| form | what FOLDER holds | models |
|---|---|---|
| `pykeen` | what `PipelineResult.save_to_directory` writes: `trained_model.pkl` and `training_triples/` | TransE, RotatE, DistMult, ComplEx, RESCAL; trained with inverse triples also ConvE and the classes of `pykeen:CLASS`, with PyKEEN's usual options |
| `libkge` | `checkpoint_best.pt` or another checkpoint, with `entity_ids.del` and `relation_ids.del` of the dataset beside it; or what `kge package` makes of it | TransE and RotatE (`l_norm` 1 or 2), DistMult, ComplEx, RESCAL, with or without reciprocal relations |
| `vectors` | `entities.npy` or `.safetensors`, the same of `relations`, and `entities.tsv` and `relations.tsv` with a name for each row; or the files of a system, as above | `--score`: {scores} |

- Vectors of DGL-KE are of the last form: convert the names of its `.npy` files, and give `--halves` for ComplEx and RotatE, whose vectors have all real parts first. RotatE's relations may be angles in radians or complex numbers. DGL-KE's RotatE is `rotate-moduli`.
- Relations without inverses are turned around where that is exact: the score of (h, r, t) is then that of (t, r⁻¹, h).
- The command prints the validation MRR. If it is near 0, names and rows don't belong together.
- For every other model, let its program rank, and [import its run](pooling.md#runs-from-outside).

## Families

{families}

## Settings that all training has

The preset depends on the size of the graph. A graph is large if an epoch that scores all entities computes more than {limit:,.0f} scores. On large graphs, wrong answers are drawn; on small graphs, all entities are scored. The section of a system lists the values of its own presets.

{common}
"""  # noqa: E501
ADDING = """## Adding a system

To add a system, write one file in `pooling/systems/` and add one line to `SYSTEMS` in `pooling/systems/__init__.py`. Pages, forms, commands, training, ranking, downloads and this page read the registry. The file defines:

| part | what it defines |
|---|---|
| `build` | the model: a PyKEEN model, or tables of vectors and networks as in the example below, where an entity has two vectors |
| `query` | the vector of a question |
| `features` | the vector of an entity |
| `form` | how query and features become a score |

There are five forms: `dot`, `euclidean`, `link` (a function of the dot product and the length of the features), `pointwise` (any function of both, coordinate by coordinate) and `model` (such a function with its own weights). Import torch and pykeen inside functions, so that pages do not wait for them to load.

The example is `docs/example_system.py`. A test registers it, trains it on a small graph and compares its scores with the formula. Write the same test for a new system, in `tests/pooling/systems/`.

```python
{example}```
"""  # noqa: E501


def text() -> str:
    from pooling.systems import SYSTEMS, USUAL
    from pooling.systems.spec import COMMON_SETTINGS, FAMILIES, LARGE, LARGE_EPOCH_SCORES, SMALL
    from pooling.training.outside.vectors import SCORES

    usual = ", ".join(SYSTEMS[name].label for name in USUAL)
    families = []
    for name, about in FAMILIES.items():
        labels = [s.label for s in SYSTEMS.values() if s.family == name]
        families.append(f"- *{name}*: {about}." + (f" {', '.join(labels)}." if labels else ""))
    rows = [
        [f"`{key}`", setting.help, setting.allowed, cell(SMALL[key]), cell(LARGE[key])]
        for key, setting in COMMON_SETTINGS.items()
    ]
    common = table(["setting", "what it does", "allowed", "small graphs", "large graphs"], rows)
    scores = ", ".join(f"`{score}`" for score in SCORES)
    head = HEAD.format(
        usual=usual, scores=scores, families="\n".join(families), limit=LARGE_EPOCH_SCORES, common=common
    )
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
        rows = [[f"`{key}`", of.help, of.allowed, cell(small[key]), cell(large[key])] for key, of in own.items()]
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


def cell(value: object) -> str:
    """Return a value for a table: whole numbers with thousands separated."""
    return f"{value:,}" if isinstance(value, int) else shown(value)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    PATH.write_text(text(), encoding="utf-8")

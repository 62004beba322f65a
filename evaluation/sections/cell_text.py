"""Cells of tables as text: numbers as pages, the report and commands write them, and why cells are undefined."""

from typing import Any

from pooling.systems.shown_names import shown_name

SMALLEST_P = 0.0001  # p-values below it are written as "< 0.0001"; files have all digits
MOST_NAMES, MOST_REASONS = 4, 8  # listed under a table before "and n more"


def is_number(kind: str) -> bool:
    """Whether the cells of a column of this kind are numbers."""
    return kind not in ("text", "system", "systems", "measure")


def cell_text(value: Any, kind: str) -> str:
    """Return the label of a cell, or its number by the kind of its column; "undefined" if it has none."""
    if isinstance(value, dict):
        value = value.get("label", value.get("value"))
    if value is None:
        return "undefined"
    return value if isinstance(value, str) else _number_text(value, kind).replace("-", "−")


def spread_text(value: dict[str, Any], kind: str) -> str:
    """Return what a cell tells behind its number: interval, mean and deviation over seeds, moved places; or ""."""
    more = ""
    if value.get("low") is not None and value.get("high") is not None:
        more = f"[{cell_text(value['low'], kind)}, {cell_text(value['high'], kind)}]"
    if value.get("mean") is not None:
        size = "value" if kind == "change" else kind  # a deviation has no sign
        more += f" ({cell_text(value['mean'], kind)} ± {cell_text(value['sd'], size)})"
    elif value.get("sd") is not None:
        more = f"± {cell_text(value['sd'], kind)}"
    if value.get("moved"):
        more += f" ({'▲' if value['moved'] > 0 else '▼'} {abs(value['moved'])})"
    return more.strip()


def _number_text(value: float, kind: str) -> str:
    if kind == "count":
        return f"{value:,.0f}"
    if kind == "share":
        return f"{100 * value:.1f} %"
    if kind == "p":
        return f"< {SMALLEST_P}" if value < SMALLEST_P else f"{value:.4f}"
    if kind in ("tau", "sd"):
        return f"{value:.2f}"
    sign = "+" if kind == "change" else ""
    return f"{value:{sign},.1f}" if abs(value) >= 10 else f"{value:{sign}.4f}"


def undefined_reasons(table: dict[str, Any]) -> list[str]:
    """Return each reason of undefined cells once: "the run did not return 12 of 40 answers (Micro MR of ConvE)".

    After it are the columns, and the rows by their first cell, unless all rows have it. Both are cut short.
    """
    columns = table["columns"]
    numbers = {column["label"] for column in columns[1:] if is_number(column["kind"])}
    first = columns[0]
    what = " of " if first["kind"] in ("system", "measure") else f", {first['label']} "  # "0" alone says nothing
    # reason -> columns by label, rows by number
    where: dict[str, tuple[dict[str, None], dict[int, None]]] = {}
    for r, row in enumerate(table["rows"]):
        for column, value in zip(columns, row, strict=True):
            if isinstance(value, dict) and value.get("value") is None and value.get("reason"):
                labels, rows = where.setdefault(value["reason"].rstrip("."), ({}, {}))
                labels[column["label"]] = rows[r] = None
    found = []
    for reason, (labels, rows) in where.items():
        names = dict.fromkeys(cell_text(table["rows"][r][0], first["kind"]) for r in rows)
        if first["kind"] == "system":
            names = dict.fromkeys(map(shown_name, names))
        of = f"{what}{_few(list(names))}" if len(rows) < len(table["rows"]) else ""
        named = "all columns" if len(numbers) > 1 and labels.keys() == numbers else _few(list(labels))
        found.append(f"{reason} ({named}{of})")
    more = len(found) - MOST_REASONS
    return [*found[:MOST_REASONS], f"and {more:,} more reasons"] if more > 1 else found


def _few(names: list[str]) -> str:
    between = " / " if any("," in name for name in names) else ", "  # "Micro MRR, disjoint" is one name
    if len(names) <= MOST_NAMES + 1:  # "and 1 more" is no shorter
        return between.join(names)
    return f"{between.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES:,} more"

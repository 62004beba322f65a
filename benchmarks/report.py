"""Write sections of docs/measured, each between its marks, aside and then renamed.

Most go to benchmarks.md there, long studies to a page of their own. docs/benchmarks.md sums them up by hand.
"""

from pathlib import Path

MEASURED = Path(__file__).resolve().parent.parent / "docs" / "measured"
OWN_PAGE = {"fb15k237-study": "fb15k237.md", "wn18rr-study": "wn18rr.md"}


def write_section(name: str, text: str, path: Path | None = None) -> None:
    """Replace the text between `<!-- begin NAME -->` and its end mark; add the marks at the end if missing."""
    path = path or MEASURED / OWN_PAGE.get(name, "benchmarks.md")
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    old = path.read_text(encoding="utf-8") if path.exists() else "# Benchmarks\n"
    if begin not in old or end not in old:
        old = f"{old.rstrip()}\n\n{begin}\n{end}\n"
    head, _, rest = old.partition(begin)
    _, _, tail = rest.partition(end)
    aside = path.with_name(f".{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside.write_text(f"{head}{begin}\n{text.strip()}\n{end}{tail}", encoding="utf-8")
    aside.replace(path)

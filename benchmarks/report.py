"""Write sections of docs/benchmarks.md, each between its marks, aside and then renamed."""

from pathlib import Path

DOCS = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


def write_section(name: str, text: str, path: Path = DOCS) -> None:
    """Replace the text between `<!-- begin NAME -->` and its end mark; add the marks at the end if missing."""
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

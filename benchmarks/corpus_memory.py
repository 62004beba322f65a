"""Count the cases of tests/corpus, and measure the memory that each importer takes with its bombs.

python -m benchmarks.corpus_memory
"""

import tempfile
import time
from pathlib import Path

from benchmarks.report import machine, write_section
from tests.corpus.memory import BOMBS, HELD, MOST, make_site, peak_of, place_of

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus"


def _cases() -> dict[str, int]:
    """Return how many cases each folder has, then the requests."""
    found = {at.parent.name: sum(1 for _ in at.parent.iterdir()) - 1 for at in sorted(CORPUS.glob("*/expected.tsv"))}
    requests = (CORPUS / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    return {**found, "requests": len(requests)}


def main() -> None:
    cases = _cases()
    lines = [
        "## Fuzz corpus",
        "",
        f"{sum(cases.values()):,} bad files and requests (`tests/corpus/`), by importer:",
        "",
    ]
    lines += ["| importer | cases |", "|---|---|", *(f"| {name} | {n:,} |" for name, n in cases.items()), ""]
    lines += [
        f"Measured on {time.strftime('%d %B %Y', time.gmtime())}: {machine()}. Each command gets its bomb in a process"
        f" of its own, one after another, and may hold {HELD >> 30} GiB of data (RLIMIT_DATA). The peak is ru_maxrss,"
        f" Python and libraries included, and may be {MOST} MiB at most.",
        "",
        "| importer | bomb | bytes of the file | peak, MiB |",
        "|---|---|---|---|",
    ]
    highest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        make_site(place)
        for importer, bombs in BOMBS.items():
            for name, make in bombs.items():
                at = place_of(place, importer)
                found = peak_of(at, make(at))
                if not found.is_refused or found.mib > MOST:
                    raise SystemExit(f"{importer}, {name}: not refused, or too much memory: {found}")
                highest = max(highest, found.mib)
                lines.append(f"| {importer} | {name} | {found.size:,} | {found.mib:.0f} |")
    lines += ["", f"The highest peak is {highest:.0f} MiB. Every bomb is refused."]
    write_section("corpus", "\n".join(lines))


if __name__ == "__main__":
    main()

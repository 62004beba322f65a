"""Time the main paths on this machine, one script after the other: four minutes where nothing else runs.

    python benchmarks/all.py --quick             prints the table, and writes it into docs/benchmarks.md
    python benchmarks/all.py --quick --no-write  prints it

Each row is the last line of one script with --quick. A script that fails or takes too long has its last words there
instead of figures; then the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.report import Summary, machine, write_section  # noqa: E402

SCRIPTS = ("measures", "ranking", "training", "pool", "export", "queue_load", "key_to_next")  # each makes what it needs
NO_DATA = "not measured: it needs FB15k-237 in the folder that TRIPLEPOOL_DATA names"
PATIENCE = 300  # seconds for one script


def run(script: str) -> Summary | str:
    """Return the main figure of a script, or why there is none."""
    command = [sys.executable, str(ROOT / "benchmarks" / f"{script}.py"), "--quick"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=ROOT)
    except subprocess.TimeoutExpired:
        return f"stopped after {PATIENCE} s"
    last = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()[-1:]
    try:
        return Summary.read("".join(last))
    except ValueError:
        return f"exit status {done.returncode}: {''.join(last)}"


def row(script: str, found: Summary | str) -> str:
    """Return a row of the table."""
    if isinstance(found, str):
        return f"| {script} | {found.replace('|', '/')} | | | | |"
    floor = "" if found.floor is None else seconds(found.floor)
    return (
        f"| {found.path} | {seconds(found.ours)} | {found.against} | {seconds(found.theirs)} | {floor}"
        f" | {found.ratio:.3g} |"
    )


def has_data() -> bool:
    root = Path(os.environ.get("TRIPLEPOOL_DATA") or ROOT.parent / "shared" / "data")
    return (root / "fb15k-237").is_dir()


def seconds(value: float) -> str:
    return f"{value * 1e3:.3g} ms" if value < 1 else f"{value:.3g} s"


def main() -> int:
    """Run all; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", required=True, help="the only form: small cases")
    parser.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md as it is")
    args = parser.parse_args()
    begun, load = time.monotonic(), os.getloadavg()[0]
    table = ["| path | ours | against | theirs | floor | times as fast |", "|---" * 6 + "|"]
    print("\n".join(table), flush=True)
    failed = False
    for number, script in enumerate(SCRIPTS, 1):
        print(f"{number} of {len(SCRIPTS)}: {script}", file=sys.stderr, flush=True)
        found = NO_DATA if script == "ranking" and not has_data() else run(script)
        failed = failed or (isinstance(found, str) and found != NO_DATA)
        table.append(row(script, found))
        print(table[-1], flush=True)
    intro = (
        f"Small cases, each once or a few times, on {time.strftime('%d %B %Y', time.gmtime())}: {machine()}; load"
        f" {load:.1f} at the beginning; {(time.monotonic() - begun) / 60:.0f} minutes. *Floor* is the least that the"
        " hardware could take. `python benchmarks/all.py --quick` writes this table anew, for your machine."
    )
    if not args.no_write and not failed:
        text = "\n".join(["## One machine in eight minutes", "", intro, "", *table])
        write_section("all", text, ROOT / "docs" / "benchmarks.md")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())

"""Write docs/commands.md from the commands themselves: python docs/write_commands.py."""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATH = ROOT / "docs" / "commands.md"
HEAD = """# Commands

`docs/write_commands.py` writes this page from the help of the commands. Make changes in the commands.

Run a command as `python manage.py COMMAND`, with the Python of the environment (`.venv/bin/python`). `python manage.py COMMAND --help` prints what this page says.

If TriplePool is [installed by pip](../README.md#installed-by-pip), `triplepool GROUP VERB` runs the same commands. For example, `triplepool graph import` is `import_graph`. `triplepool --help` lists the groups.

A command exits with 0 only if it succeeded. Errors go to standard error, and name the file and line. With `--json`, a command prints only JSON to standard output.
"""  # noqa: E501
GROUPS = {
    "pooling": "Graphs, systems, runs, pools",
    "annotation": "Labels and people",
    "evaluation": "Evaluation and test sets",
    "core": "The site",
}
EVERYWHERE = {
    "--help", "--version", "--verbosity", "--settings", "--pythonpath", "--traceback", "--no-color", "--force-color",
    "--skip-checks",
}  # fmt: skip


def text() -> str:
    from django.core.management import get_commands, load_command_class

    parts = [HEAD]
    for app, title in GROUPS.items():
        parts.append(f"## {title}\n")
        for name in sorted(name for name, of in get_commands().items() if of == app):
            command = load_command_class(app, name)
            parts.append(section(name, command.help, command.create_parser("manage.py", name)))
    return "\n".join(parts)


def section(name: str, about: str, parser: argparse.ArgumentParser) -> str:
    actions = [one for one in parser._actions if not EVERYWHERE & set(one.option_strings)]
    shown = [one for one in actions if one.help != argparse.SUPPRESS]
    usage = " ".join(one.metavar or one.dest.upper() for one in shown if not one.option_strings)
    rows = [f"| {words(one)} | {meaning(one)} |" for one in shown]
    table = ["| argument | what it does |", "|---|---|", *rows, ""] if rows else []
    return "\n".join([f"### {name}\n", f"`{f'{name} {usage}'.strip()}`: {about}\n", *table])


def words(action: argparse.Action) -> str:
    """Return how an argument is written, as in `--depth DEPTH`."""
    value = "" if action.nargs == 0 else f" {_value(action)}"
    if not action.option_strings:
        return f"`{value.strip()}`"
    return f"`{action.option_strings[-1]}{value}`"


def _value(action: argparse.Action) -> str:
    if action.choices and not action.metavar:
        return "{" + ",".join(map(str, filter(None, action.choices))) + "}"
    name = action.metavar or action.dest.upper()
    return name if isinstance(name, str) else " ".join(name)


def meaning(action: argparse.Action) -> str:
    """Return the help of an argument, and whether an option has to be given."""
    found = re.sub(r"\s+", " ", (action.help or "").replace("%%", "%")).strip().replace("|", "\\|")
    return f"{found} (required)" if action.option_strings and action.required else found


if __name__ == "__main__":
    import os

    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    PATH.write_text(text(), encoding="utf-8")

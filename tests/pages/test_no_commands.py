"""No page tells people to type a command: what the page can do is a button, the rest is on a help page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
# what only somebody at the server can do: a file that is larger than a page takes, a label file, removal with labels
AT_THE_SERVER = {
    "import_graph",
    "import_pool",
    "import_run",
    "import_test_set",
    "import_labels",
    "build_pool",
    "extend_pool",
}


def commands() -> set[str]:
    """The commands whose names are no words of a page."""
    files = Path(settings.BASE_DIR).glob("*/management/commands/*.py")
    return {file.stem for file in files if "_" in file.stem.strip("_")} - {"open_world"}


def test_no_template_holds_a_command():
    found = re.compile(rf"manage\.py|\btriplepool [a-z]+ [A-Z]|[>\s\"]({'|'.join(sorted(commands()))})[\s<.]")
    # comments and tags of templates are no text
    texts = {path: re.sub(r"{%.*?%}|{#.*?#}", "", path.read_text(encoding="utf-8")) for path in TEMPLATES}
    assert len(texts) > 100
    assert {str(path): found.findall(text) for path, text in texts.items() if found.search(text)} == {}


@pytest.mark.parametrize("folder", ["pooling", "annotation", "evaluation", "core"])
def test_no_view_form_or_status_names_a_command_that_a_page_can_do(folder: str):
    app = Path(settings.BASE_DIR) / folder
    files = [*app.glob("views/*.py"), *app.glob("forms/*.py"), *app.glob("overview/*.py"), *app.glob("papers/*.py")]
    named = re.compile(rf"manage\.py|[\s\"'](?:{'|'.join(sorted(commands() - AT_THE_SERVER))}) [A-Z{{]")
    assert {str(file): named.findall(file.read_text()) for file in files if named.search(file.read_text())} == {}

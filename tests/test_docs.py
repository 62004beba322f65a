"""What the documentation says is there: commands, targets, files, settings, measures."""

import importlib.util
import re
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import get_commands, load_command_class

from config.sidebar import pool_entries

ROOT = Path(settings.BASE_DIR)
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "deploy" / "README.md", *(ROOT / "docs").glob("*.md")]
)
OURS = {name: app for name, app in get_commands().items() if app in ("core", "pooling", "annotation", "evaluation")}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files(page: Path):
    text = page.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", text)
    local = {one or other for one, other in targets if not (one or other).startswith(("https://", "#"))}
    assert {target for target in local if not (page.parent / target.partition("#")[0]).exists()} == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_and_commands_exist(page: Path):
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    asked = set(re.findall(r"`make ([a-z-]+)", text)) | set(re.findall(r"^make ([a-z-]+)", text, re.M))
    assert asked - targets == set()
    assert set(re.findall(r"manage\.py ([a-z_]+)", text)) - {"check", "migrate", "changepassword", *OURS} == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_ways_through_the_pages_of_a_pool_are_those_of_its_sidebar(page: Path):
    """`*Pools → NAME → ENTRY → PAGE*`, or from the entry on; ways that begin elsewhere begin in the top bar."""
    ways = [way.split(" → ") for way in re.findall(r"\*([^*\n]+ → [^*\n]+)\*", page.read_text(encoding="utf-8"))]
    of_pool = [way[2:] if way[0] == "Pools" else way for way in ways if way[0] not in ("Graphs", "People", "Account")]
    there = {(entry.label, item.label) for entry in pool_entries() for group in entry.groups for item in group.items}
    assert {" → ".join(way) for way in of_pool if tuple(way) not in there} == set()


def test_readme_has_every_command_with_its_options():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `python manage\.py ([a-z_]+)(.*)$", text, re.M))
    assert set(rows) == set(OURS) - {"demo"}  # `make demo` calls that one
    for name, row in rows.items():
        parser = load_command_class(OURS[name], name).create_parser("manage.py", name)
        assert set(re.findall(r"--[a-z-]+", row)) - set(parser._option_string_actions) == set(), name


def test_settings_page_has_every_variable_that_settings_read():
    places = ("config/settings.py", "config/single_sign_on.py", "core/zones.py")
    code = "".join((ROOT / name).read_text() for name in places)
    read = set(re.findall(r"env(?:iron)?(?:\.get\(|\[)\"([A-Z_]+)\"", code))
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([A-Z_]+)`", page, re.M)) == read


def writer(name: str):
    spec = importlib.util.spec_from_file_location(f"write_{name}", ROOT / "docs" / f"write_{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["measures", "systems", "commands"])
def test_page_is_what_the_registry_says(name: str):
    assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") == writer(name).text()


def test_picture_of_the_packages_is_drawn_from_the_imports():
    """Where it is not: python docs/write_architecture.py"""
    drawn = writer("architecture")
    assert drawn.PATH.read_text(encoding="utf-8") == drawn.text()


def test_architecture_names_files_that_exist():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:core|pooling|annotation|evaluation|config|static|templates|tests|docs)/[\w/*.]+)`", text)
    assert {path for path in paths if not list(ROOT.glob(path))} == set()


def test_changelog_has_a_line_for_every_stage():
    from config.stages import STAGES

    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    stages = [stage.label for stage in STAGES]
    assert [label for label in re.findall(r"^- ([A-Z][a-z ]+): ", text, re.M) if label in stages] == stages


def test_pictures_are_small():
    images = list((ROOT / "docs" / "images").iterdir())
    assert {path.name for path in images if path.stat().st_size > 200_000} == set()


def test_text_is_plain():
    """No exclamation marks; code and pictures in Markdown have theirs."""
    for page in PAGES:
        prose = re.sub(r"```.*?```|`[^`]*`|!\[|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.S)
        assert "!" not in prose, page.name

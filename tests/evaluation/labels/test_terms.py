"""Terms of a test set: what is taken, that versions are kept, and that no judgement changes."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError

from core.errors import UserError
from core.models import AuditEntry
from evaluation.enums import EvaluationAct, QrelsOrigin
from evaluation.labels.qrels import freeze_qrels, pooled_state, write_qrels
from evaluation.labels.terms import Creator, creator_lines, creators_of, edit_terms, is_orcid, read_creators, terms_of
from evaluation.models import Qrels, Terms
from pooling.models import Pool
from tests.factories import make_person

ADA = Creator("Lovelace, Ada", "0000-0002-1825-0097")


@pytest.fixture
def qrels(labelled: Pool) -> Qrels:
    return freeze_qrels(
        labelled, "v1", licence="cc-by-4.0", citation="Ada, 2026", creators=[ADA], url="https://x.org/a"
    )


def said(terms: Terms) -> tuple[int, str, str, list[Creator], str, str]:
    return terms.version, terms.licence, terms.citation, creators_of(terms), terms.url, terms.changed


def test_the_name_of_a_creator_is_one_line(qrels: Qrels):
    terms = edit_terms(qrels, "named", creators=[Creator(" Lovelace,\n  Ada\u2028# B ")])
    assert creators_of(terms) == [Creator("Lovelace, Ada # B")]


def test_what_is_frozen_is_version_1(qrels: Qrels):
    assert said(terms_of(qrels)) == (1, "CC-BY-4.0", "Ada, 2026", [ADA], "https://x.org/a", "")
    assert terms_of(qrels).created_at == qrels.created_at


def test_an_edit_is_a_new_version_and_keeps_what_it_does_not_name(qrels: Qrels):
    person = make_person("mia")
    edit_terms(qrels, " The licence ", person, licence="CC0-1.0")
    now, first = terms_of(qrels), terms_of(qrels, 1)
    assert said(now) == (2, "CC0-1.0", "Ada, 2026", [ADA], "https://x.org/a", "The licence")
    assert said(first) == (1, "CC-BY-4.0", "Ada, 2026", [ADA], "https://x.org/a", "")
    assert now.created_by == person and now.created_at > first.created_at
    entry = AuditEntry.objects.get(act=EvaluationAct.TERMS_EDITED)
    assert (entry.about, entry.details) == ("v1", {"version": 2})


@pytest.mark.parametrize(
    ("changed", "given", "why"),
    [
        ("x", {"licence": "CC BY 4.0"}, "Did you mean CC-BY-4.0?"),
        ("x", {"url": "x.org"}, "'x.org' is not an address"),
        ("x", {"url": "javascript:alert(1)"}, "is not an address"),
        ("x", {"creators": [Creator("Ada", "0000-0002-1825-0098")]}, "'0000-0002-1825-0098' is not an ORCID iD"),
        ("x", {"creators": [Creator(" ", "0000-0002-1825-0097")]}, "A creator has no name"),
        ("x", {"citation": "x" * 2001}, "The citation has 2,001 characters: at most 2,000"),
        ("x", {"licence": "CC-BY-4.0"}, "Nothing is another in the terms of p/v1: version 1 says the same."),
        ("x", {}, "Nothing is another"),
        (" ", {"licence": "MIT"}, "Say what you changed, in at most 500 characters."),
    ],
)
def test_what_cannot_be_taken_is_refused_and_no_version_is_written(qrels: Qrels, changed, given, why):
    with pytest.raises(UserError) as caught:
        edit_terms(qrels, changed, **given)
    assert why in str(caught.value)
    assert qrels.terms.count() == 1


def test_an_edit_follows_a_version_that_came_after_the_qrels_were_read(qrels: Qrels):
    read_before = Qrels.objects.prefetch_related("terms").get(pk=qrels.pk)
    edit_terms(qrels, "The licence.", licence="CC0-1.0")
    assert edit_terms(read_before, "The citation.", citation="Ours.").version == 3
    kept = terms_of(Qrels.objects.get(pk=qrels.pk))
    assert (kept.version, kept.licence, kept.citation) == (3, "CC0-1.0", "Ours.")


def test_imported_qrels_have_no_terms(labelled: Pool):
    imported = write_qrels(labelled, "theirs", *pooled_state(labelled), origin=QrelsOrigin.IMPORTED, user=None)
    with pytest.raises(UserError, match="only frozen qrels have terms"):
        edit_terms(imported, "x", licence="MIT")
    assert said(terms_of(imported)) == (1, "", "", [], "", "")


@pytest.mark.parametrize(
    ("line", "creator"),
    [
        ("Lovelace, Ada, 0000-0002-1825-0097", ADA), ("Lovelace, Ada (0000-0002-1825-0097)", ADA),
        ("Lovelace, Ada <https://orcid.org/0000-0002-1825-0097>", ADA), ("  The group ", Creator("The group")),
    ],
)  # fmt: skip
def test_creators_are_read_a_line_each(line, creator):
    assert read_creators(f"\n{line}\n\n") == [creator]
    assert read_creators("\n".join(creator_lines([creator, ADA]))) == [creator, ADA]


@pytest.mark.parametrize(
    ("creator", "names"),
    [
        (ADA, ("Lovelace", "Ada")), (Creator("Ada King Lovelace", ADA.orcid), ("Lovelace", "Ada King")),
        (Creator("The group"), None), (Creator("Ada", ADA.orcid), None),
    ],
)  # fmt: skip
def test_people_have_two_names(creator, names):
    assert creator.family_given == names


def test_orcid_ids_are_checked_by_their_last_character():
    assert all(map(is_orcid, ("0000-0002-1825-0097", "0000-0001-5109-3700", "0000-0002-1694-233X")))
    assert not any(map(is_orcid, ("0000-0002-1825-0096", "0000-0002-1694-2330", "0000000218250097", "")))


def test_the_command_edits_and_shows_versions(qrels: Qrels, capsys):
    call_command("edit_terms", "p", "v1", creator=["The group", "Lovelace, Ada"], changed="Creators")
    assert creators_of(terms_of(qrels)) == [Creator("The group"), Creator("Lovelace, Ada")]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[2] for line in lines] == [
        "frozen: CC-BY-4.0 · Lovelace, Ada, 0000-0002-1825-0097 · https://x.org/a · Ada, 2026",
        "Creators: CC-BY-4.0 · The group; Lovelace, Ada · https://x.org/a · Ada, 2026",
    ]
    with pytest.raises(CommandError, match="Say what you changed"):
        call_command("edit_terms", "p", "v1", licence="MIT")
    assert qrels.terms.count() == 2


def test_a_new_version_changes_the_card_and_what_describes_it_alone(qrels: Qrels, tmp_path: Path):
    from evaluation.test_sets.export import export_test_set

    def files(name: str, version: int | None = None) -> dict[str, bytes]:
        paths = export_test_set(qrels, tmp_path / name, terms_version=version)
        return {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in paths}

    before = files("before")
    edit_terms(qrels, "Now a | free licence", licence="CC0-1.0")
    after = files("after")
    assert set(before) == set(after)
    assert {name for name in before if before[name] != after[name]} == {
        "README.md", "CITATION.cff", "CITATION.bib", "datacite.json", "croissant.json", "ro-crate-metadata.json",
        "test_set.json", "CHECKSUMS.sha256",
    }  # fmt: skip
    assert files("first", 1) == before
    card = after["README.md"].decode().splitlines()
    day = terms_of(qrels).created_at
    assert f"| 2 | {day:%Y-%m-%d} | Now a \\| free licence |" in card and "CC0-1.0" in card
    assert "license: cc0-1.0" in card and "license: cc-by-4.0" in before["README.md"].decode().splitlines()


def test_the_migration_keeps_what_was_frozen_as_version_1(qrels: Qrels, labelled: Pool):
    """The step of the migration on rows as they were before."""
    step = importlib.import_module("evaluation.migrations.0002_terms_as_versions").first_versions
    other = write_qrels(labelled, "theirs", *pooled_state(labelled), origin=QrelsOrigin.IMPORTED, user=None)

    class Before:
        """Qrels with the two fields that they had."""

        def get_model(self, app: str, name: str) -> object:
            return apps.get_model(app, name) if name == "Terms" else self

        @property
        def objects(self) -> Before:
            return self

        def filter(self, origin: str) -> list[Qrels]:
            rows = list(Qrels.objects.filter(origin=origin))
            for row in rows:
                row.licence, row.citation = "as it was", "Ada"  # type: ignore[attr-defined]
            return rows

    Terms.objects.all().delete()
    step(Before(), None)
    assert said(Terms.objects.get()) == (1, "as it was", "Ada", [], "", "")
    assert terms_of(qrels).created_at == qrels.created_at and not other.terms.exists()

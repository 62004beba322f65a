"""The report of an evaluation: one file that stands alone, the same for the same labels."""

from __future__ import annotations

import json
from collections import defaultdict
from html.parser import HTMLParser
from typing import Any

import pytest

from core.charts.draw import chart_html
from evaluation.analyses import tukey_hsd
from evaluation.labels.pool_table import EvaluationError
from evaluation.models import Figure
from evaluation.overview.full_report import full_report, preview_chapters, report_html, report_json, settings_of
from evaluation.overview.sections import OVERVIEW
from evaluation.pages.registry import ANALYSES, get_analysis
from evaluation.sections.figure_cache import part_figure
from evaluation.sections.settings import Settings
from pooling.models import Pool, Run, System
from pooling.systems.shown_names import shown_in_chart
from tests.factories import judge

EVIL = "</script><script>alert(1)</script><!--"
# few measures: what is in the report is told here, its numbers by the tests of its pages
FEW = Settings(measures=("macro_mrr", "micro_mr"))


@pytest.fixture(autouse=True)
def _few_permutations(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tukey_hsd, "PERMUTATIONS", 50)


class Page(HTMLParser):
    """What a browser would make of a page: elements by tag, and the text of scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: dict[str, list[dict[str, str | None]]] = defaultdict(list)
        self.scripts: list[str] = []
        self.text: list[str] = []
        self._in: str = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag].append(dict(attrs))
        self._in = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)

    @property
    def all_text(self) -> str:
        return " ".join(" ".join(self.text).split())

    def ids(self) -> list[str]:
        return [str(one["id"]) for found in self.elements.values() for one in found if one.get("id")]


def compute_heavy(pool: Pool, settings: Settings) -> None:
    for analysis in ANALYSES:
        for part in analysis.parts:
            if part.heavy:
                part_figure(pool, analysis, part, settings_of(analysis, settings))


def test_every_section_of_every_analysis_is_in_the_file(labelled: Pool):
    compute_heavy(labelled, FEW)
    report = full_report(labelled, FEW)
    page = Page(report_html(report))
    assert [chapter.analysis for chapter in report.chapters] == [OVERVIEW, *ANALYSES]
    sections = [
        (chapter.analysis.key, section)
        for chapter in report.chapters
        for shown in chapter.parts
        for section in shown.sections
    ]
    assert len(sections) > 10
    ids = page.ids()
    assert len(ids) == len(set(ids))
    for key, section in sections:
        assert f"{key}-{section['key']}" in ids
        for text in (section["title"], section["caption"], *section["notes"]):
            assert " ".join(text.split()) in page.all_text
    shown = [table for _, section in sections for table in section["tables"] if not table["in_files"]]
    rows = sum(len(table["rows"]) + 1 + bool(table["foot"]) for table in shown)
    rows += sum(len(table.rows) + 1 for table in report.tables)
    assert len(page.elements["tr"]) == rows
    assert "Not computed" not in page.all_text


def test_charts_are_in_the_file_with_their_places(labelled: Pool):
    compute_heavy(labelled, FEW)
    report = full_report(labelled, FEW)
    page = Page(report_html(report))
    places = [one["data-chart"] for one in page.elements["div"] if "data-chart" in one]
    sections = {
        f"{chapter.analysis.key}-{section['key']}": section
        for chapter in report.chapters
        for shown in chapter.parts
        for section in shown.sections
        if section["chart"]
    }
    assert places == list(sections)
    html = report_html(report)
    for section in sections.values():
        assert chart_html(section["chart"]["kind"], shown_in_chart(section["chart"]["data"])) in html


def test_file_asks_nothing_of_anybody(labelled: Pool):
    page = Page(report_html(full_report(labelled, FEW)))
    for tag in ("link", "img", "iframe", "base", "form"):
        assert page.elements[tag] == []
    assert page.elements["script"] == []
    assert all(str(one["href"]).startswith("#") for one in page.elements["a"])
    targets = {str(one["href"])[1:] for one in page.elements["a"]}
    assert targets <= set(page.ids()) and "methods" in targets


def test_same_settings_and_labels_give_the_same_bytes(labelled: Pool):
    first = report_html(full_report(labelled, FEW))
    assert report_html(full_report(labelled, FEW)) == first  # as they were kept
    Figure.objects.all().delete()
    assert report_html(full_report(labelled, FEW)) == first
    waiting = labelled.triples.filter(reason="", judgement=None).first()
    assert waiting is not None
    judge(waiting, "positive")
    assert report_html(full_report(labelled, FEW)) != first


def test_date_is_that_of_the_last_judgement(labelled: Pool):
    last = labelled.judgements.order_by("-decided_at").first()
    assert last is not None
    report = full_report(labelled, FEW)
    assert report.as_of == last.decided_at
    assert f"Judgements as of {last.decided_at:%Y-%m-%d %H:%M:%S} UTC." in Page(report_html(report)).all_text


def test_heavy_part_that_no_job_computed_is_told_and_not_computed(labelled: Pool):
    report = full_report(labelled, FEW)
    said = {
        (chapter.analysis.key, shown.part.key): shown.problem for chapter in report.chapters for shown in chapter.parts
    }
    heavy = {(a.key, part.key) for a in ANALYSES for part in a.parts if part.heavy}
    assert {key for key, problem in said.items() if problem} == heavy
    assert said["discriminative", "hsd"] == (
        "Not computed: randomised Tukey HSD. Have it computed on the page Discriminative power, then take the report"
        " again."
    )
    assert said["discriminative", "hsd"] in Page(report_html(report)).all_text
    assert not Figure.objects.filter(heavy=True).exclude(version="").exists()
    waiting = {one.analysis.key: list(one.waiting) for one in preview_chapters(labelled, FEW)}
    assert waiting["discriminative"] == ["randomised Tukey HSD", "full test beside it"]
    assert waiting["depth"] == []


def test_heavy_part_older_than_the_labels_is_told(labelled: Pool):
    compute_heavy(labelled, FEW)
    judge(labelled.triples.filter(reason="", judgement=None)[0], "negative")
    report = full_report(labelled, FEW)
    shown = {s.part.key: s for chapter in report.chapters for s in chapter.parts}["hsd"]
    assert shown.is_old and len(shown.sections) == 1 and shown.computed_at is not None
    assert (
        f"Computed {shown.computed_at:%Y-%m-%d %H:%M:%S} UTC, before the last labels."
        in Page(report_html(report)).all_text
    )


def test_settings_that_an_analysis_does_not_take_stay_as_usual():
    asked = Settings(labels="seeds", against="full-test", measures=("bpref",), alpha=0.2, assumed="unjudged", seed=3)
    assert settings_of(get_analysis("accumulation"), asked) == Settings(measures=("bpref",), assumed="unjudged")
    assert settings_of(get_analysis("discriminative"), asked) == Settings(
        labels="seeds", measures=("bpref",), alpha=0.2, assumed="unjudged", seed=3
    )
    assert settings_of(get_analysis("relations"), asked).measure == "bpref"


def test_report_keeps_no_figure_under_settings_that_another_page_would_read(labelled: Pool):
    """Accumulation takes no label set: what the report computes for it is what its page shows."""
    analysis = get_analysis("accumulation")
    report = full_report(labelled, Settings(labels="seeds", measures=("macro_mrr",)))
    (shown,) = next(chapter.parts for chapter in report.chapters if chapter.analysis is analysis)
    Figure.objects.all().delete()
    own = part_figure(labelled, analysis, analysis.parts[0], Settings(measures=("macro_mrr",)))
    assert own.content["sections"] == shown.sections


def test_analysis_that_cannot_be_computed_says_why_in_its_place(labelled: Pool):
    report = full_report(labelled, Settings(labels="full-test", measures=("macro_mrr",)))
    problems = {(chapter.analysis.key, s.part.key): s.problem for chapter in report.chapters for s in chapter.parts}
    depth = next(of for of in problems if of[1] == "depth")
    assert problems[depth] == "Undefined: Full test has no pool depth: choose other labels."
    assert problems["discriminative", "curve"] == problems["measures", "values"] == ""
    assert problems[depth] in Page(report_html(report)).all_text


def test_unknown_label_set_is_refused(labelled: Pool):
    with pytest.raises(EvaluationError, match="no qrels 'none'"):
        full_report(labelled, Settings(against="qrels:none"))


def test_pool_without_any_run_has_a_report_of_methods(labelled: Pool):
    Run.objects.all().delete()
    report = full_report(labelled, FEW)
    assert all(shown.problem for chapter in report.chapters for shown in chapter.parts)
    text = Page(report_html(report)).all_text
    assert "Undefined: No system has the rank rows" in text
    assert dict(report.methods)["Pool"] in text


def test_one_system_and_no_judgement_give_a_report(pool: Pool):
    Run.objects.exclude(system__name="complex").delete()
    compute_heavy(pool, FEW)
    report = full_report(pool, FEW)
    assert [s.problem for chapter in report.chapters for s in chapter.parts if s.problem] == []
    assert "Nothing is judged yet." in Page(report_html(report)).all_text
    json.dumps(report_json(report), default=str, allow_nan=False)


def test_text_of_others_is_text_in_the_file(labelled: Pool):
    Pool.objects.filter(pk=labelled.pk).update(seed_source=EVIL)
    System.objects.filter(name="transe").update(settings={EVIL: EVIL})
    page = Page(report_html(full_report(Pool.objects.get(), FEW)))
    assert page.scripts == []
    assert page.all_text.count(EVIL) == 3


# -- JSON -------------------------------------------------------------------------------------------------------


def test_json_has_everything_that_the_file_has(labelled: Pool):
    compute_heavy(labelled, FEW)
    report = full_report(labelled, FEW)
    content: dict[str, Any] = json.loads(json.dumps(report_json(report), default=str, allow_nan=False))
    assert content["settings"]["measures"] == ["macro_mrr", "micro_mr"]
    assert [one["analysis"] for one in content["analyses"]] == ["overview", *(a.key for a in ANALYSES)]
    for chapter, one in zip(report.chapters, content["analyses"], strict=True):
        sections = json.loads(json.dumps([shown.sections for shown in chapter.parts]))
        assert [part["sections"] for part in one["parts"]] == sections
    assert [(m["heading"], m["text"]) for m in content["methods"]] == list(report.methods)
    assert content["tables"][0]["rows"][0][:2] == ["transe", "transe"]

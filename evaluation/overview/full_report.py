"""Make the report of an evaluation: methods and the sections of every analysis in one self-contained file.

The same settings and labels give the same bytes: it names the time of the last label, not the time of writing.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.staticfiles import finders
from django.db.models import Max
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from core.errors import UserError
from evaluation.labels.label_sets import label_set
from evaluation.overview.methods import Paragraph, measures_table, methods, systems_table, versions
from evaluation.overview.sections import OVERVIEW, overview_sections
from evaluation.pages.registry import ANALYSES
from evaluation.sections.figure_cache import kept_part_figure, part_figure, part_version
from evaluation.sections.section import Analysis, Context, Json, Part, Table
from evaluation.sections.settings import Settings
from pooling.models import Pool

REPORT_SETTINGS = (
    "labels",
    "against",
    "measures",
    "questions",
    "assumed",
    "alpha",
    "seed",
    "seeds",
    "training",
    "systems",
)
STYLES = ("css/theme.css", "css/base.css", "css/evaluation.css", "css/charts.css", "css/report.css")
_IN_JSON = ("problem", "computed_at", "is_old", "compared", "sections")  # fields of a part


@dataclass(frozen=True)
class ReportPart:
    """Hold a part of an analysis; `problem` says why it has no sections, `computed_at` when a job made them."""

    part: Part
    sections: Sequence[Json]
    systems: Sequence[str] = ()
    left_out: Sequence[str] = ()
    compared: Json | None = None  # on which questions (evaluation/sections/compared.py)
    computed_at: datetime | None = None
    is_old: bool = False
    problem: str = ""


class Chapter(NamedTuple):
    analysis: Analysis
    parts: Sequence[ReportPart]


@dataclass(frozen=True)
class Report:
    pool: Pool
    settings: Settings
    as_of: datetime | None  # of the last judgement; None: there is none
    methods: Sequence[Paragraph]
    tables: Sequence[Table]
    chapters: Sequence[Chapter]

    @property
    def left_out(self) -> list[str]:
        return sorted({name for chapter in self.chapters for part in chapter.parts for name in part.left_out})


def settings_of(analysis: Analysis, settings: Settings) -> Settings:
    """Return the settings that an analysis takes, with defaults for the others: it may depend only on its address."""
    taken: dict[str, Any] = {name: getattr(settings, name) for name in analysis.settings if name in REPORT_SETTINGS}
    if "measure" in analysis.settings:
        taken["measure"] = settings.measures[0]
    return Settings(**taken)


def full_report(pool: Pool, settings: Settings) -> Report:
    """Return the report: quick parts computed now where they are not kept, heavy parts as a job last computed them.

    Raise EvaluationError for a label set that does not exist. A part that cannot be computed says why.
    """
    context = Context(pool, settings)
    look_up_labels(context)
    as_of = pool.judgements.aggregate(at=Max("decided_at"))["at"]
    chapters = [Chapter(OVERVIEW, [_overview(pool, settings)])]
    for analysis in ANALYSES:
        own = settings_of(analysis, settings)
        chapters.append(Chapter(analysis, [_part(pool, analysis, part, own) for part in analysis.parts]))
    tables = [systems_table(pool), measures_table(context)]
    return Report(pool, settings, as_of, methods(context), tables, chapters)


def _overview(pool: Pool, settings: Settings) -> ReportPart:
    (part,) = OVERVIEW.parts
    try:
        sections, systems, left_out = overview_sections(pool, settings)
    except UserError as error:
        return ReportPart(part, [], problem=f"Undefined: {error}")
    return ReportPart(part, [section.content() for section in sections], systems, left_out)


def look_up_labels(context: Context) -> None:
    """Raise EvaluationError where a label set of the settings does not exist."""
    try:
        table = context.table
    except UserError:  # nothing to evaluate yet: the report has the methods, and says so for each analysis
        return
    for key in {context.settings.labels, context.settings.against}:
        label_set(context.pool, table, key)


def _part(pool: Pool, analysis: Analysis, part: Part, settings: Settings) -> ReportPart:
    if part.heavy:
        kept = kept_part_figure(pool, analysis, part, settings)
        if kept is None:
            where = f"Have it computed on the page {analysis.title}, then take the report again."
            return ReportPart(part, [], problem=f"Not computed: {part.title}. {where}")
        is_old = kept.version != part_version(pool, analysis, part, settings)
        return ReportPart(part, **kept.content, computed_at=kept.computed_at, is_old=is_old)
    try:
        return ReportPart(part, **part_figure(pool, analysis, part, settings).content)
    except UserError as error:
        return ReportPart(part, [], problem=f"Undefined: {error}")


class ChapterPreview(NamedTuple):
    """Announce a chapter of the report: `waiting` are heavy parts that no job has computed."""

    analysis: Analysis
    query: str
    waiting: Sequence[str]


def preview_chapters(pool: Pool, settings: Settings) -> list[ChapterPreview]:
    """Return what each chapter of the report would hold, without computing any."""
    found = []
    for analysis in ANALYSES:
        own = settings_of(analysis, settings)
        missing = [p.title for p in analysis.parts if p.heavy and kept_part_figure(pool, analysis, p, own) is None]
        found.append(ChapterPreview(analysis, own.query(analysis.settings), missing))
    return found


def report_json(report: Report) -> Json:
    """Return the report as JSON."""
    analyses = []
    for analysis, parts in report.chapters:
        found = [{"part": one.part.key} | {name: getattr(one, name) for name in _IN_JSON} for one in parts]
        analyses.append({"analysis": analysis.key, "title": analysis.title, "parts": found})
    return {
        "pool": report.pool.name,
        "as_of": report.as_of,
        "software": versions(),
        "settings": {name: getattr(report.settings, name) for name in REPORT_SETTINGS},
        "methods": [{"heading": heading, "text": text} for heading, text in report.methods],
        "tables": [asdict(table) for table in report.tables],
        "analyses": analyses,
    }


def report_html(report: Report) -> str:
    """Return one file with its styles and drawings inside, which opens without a server and runs no script."""
    chapters = []
    for chapter in report.chapters:
        parts = []
        for shown in chapter.parts:
            # keys are unique within a page only
            sections = [{**section, "key": f"{chapter.analysis.key}-{section['key']}"} for section in shown.sections]
            parts.append({"shown": shown, "sections": sections})
        chapters.append({"analysis": chapter.analysis, "parts": parts})
    context = {"report": report, "pool": report.pool, "chapters": chapters, "style": _style(STYLES)}
    with timezone.override(UTC):  # a file has one time for everybody
        return render_to_string("evaluation/overview/report_file.html", context)


def _static(name: str) -> Path:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"static file {name}")
    return Path(path)


def _style(names: Sequence[str]) -> SafeString:
    """Join our own stylesheets. They hold no text of users."""
    return mark_safe("\n".join(_static(name).read_text(encoding="utf-8") for name in names))

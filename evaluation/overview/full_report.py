"""The report of an evaluation: methods, and the sections of every analysis, as one file that stands alone.

The same settings and labels give the same bytes: nothing in it says when it was written, only as of which label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.db.models import Max
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from core.errors import UserError
from evaluation.analyses.registry import ANALYSES
from evaluation.labels.label_sets import label_set
from evaluation.overview.methods import Paragraph, measures_table, methods, systems_table, versions
from evaluation.overview.report_overview import OVERVIEW, overview_sections
from evaluation.sections.figure_cache import kept_part_figure, part_figure, part_version
from evaluation.sections.section import Analysis, Context, Json, Part, Table
from evaluation.sections.settings import Settings
from pooling.models import Pool

TAKEN = ("labels", "against", "measures", "questions", "assumed", "alpha", "seed")
STYLES = ("css/theme.css", "css/base.css", "css/evaluation.css", "css/report.css")
PLOTLY = "vendor/plotly.min.js"
CHARTS = ("js/lib/charts.js", "js/lib/grid_charts.js")  # one module of the file, in this order


@dataclass(frozen=True)
class ReportPart:
    """A part of an analysis; `problem` says why it has no sections, `computed_at` when a job made them."""

    part: Part
    sections: Sequence[Json]
    systems: Sequence[str] = ()
    left_out: Sequence[str] = ()
    computed_at: datetime | None = None
    is_old: bool = False
    problem: str = ""


@dataclass(frozen=True)
class Chapter:
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
    """Those that an analysis takes, the others as usual: what it computes must not depend on more than its address."""
    taken: dict[str, Any] = {name: getattr(settings, name) for name in analysis.settings if name in TAKEN}
    if "measure" in analysis.settings:
        taken["measure"] = settings.measures[0]
    return Settings(**taken)


def full_report(pool: Pool, settings: Settings) -> Report:
    """Quick parts as of now, computed where they are not kept; heavy ones as a job last computed them.

    EvaluationError for a label set that does not exist. What cannot be computed is said in its place.
    """
    context = Context(pool, settings)
    look_up_labels(context)
    as_of = pool.judgements.aggregate(at=Max("decided_at"))["at"]
    chapters = [
        Chapter(analysis, [_part(pool, analysis, part, settings_of(analysis, settings)) for part in analysis.parts])
        for analysis in ANALYSES
    ]
    return Report(
        pool,
        settings,
        as_of,
        methods(context),
        [systems_table(pool), measures_table(context)],
        [Chapter(OVERVIEW, [_overview(pool, settings)]), *chapters],
    )


def _overview(pool: Pool, settings: Settings) -> ReportPart:
    (part,) = OVERVIEW.parts
    try:
        sections, systems, left_out = overview_sections(pool, settings)
    except UserError as error:
        return ReportPart(part, [], problem=f"Undefined: {error}")
    return ReportPart(part, [section.content() for section in sections], systems, left_out)


def look_up_labels(context: Context) -> None:
    """EvaluationError where one of the label sets of the settings is not there."""
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
            where = f"Have it computed on the page {analysis.tab}, then take the report again."
            return ReportPart(part, [], problem=f"Not computed: {part.title}. {where}")
        is_old = kept.version != part_version(pool, analysis, part, settings)
        return ReportPart(part, **kept.content, computed_at=kept.computed_at, is_old=is_old)
    try:
        return ReportPart(part, **part_figure(pool, analysis, part, settings).content)
    except UserError as error:
        return ReportPart(part, [], problem=f"Undefined: {error}")


@dataclass(frozen=True)
class Contained:
    """What the report would hold of an analysis: `waiting` are heavy parts that no job has computed."""

    analysis: Analysis
    query: str
    waiting: Sequence[str]


def contents(pool: Pool, settings: Settings) -> list[Contained]:
    """The chapters of the report, without computing any."""
    found = []
    for analysis in ANALYSES:
        own = settings_of(analysis, settings)
        missing = [p.title for p in analysis.parts if p.heavy and kept_part_figure(pool, analysis, p, own) is None]
        found.append(Contained(analysis, own.query(analysis.settings), missing))
    return found


# -- as files ---------------------------------------------------------------------------------------------------


def report_json(report: Report) -> Json:
    return {
        "pool": report.pool.name,
        "as_of": report.as_of,
        "software": versions(),
        "settings": {name: getattr(report.settings, name) for name in TAKEN},
        "methods": [{"heading": heading, "text": text} for heading, text in report.methods],
        "tables": [asdict(table) for table in report.tables],
        "analyses": [
            {
                "analysis": chapter.analysis.key,
                "title": chapter.analysis.title,
                "parts": [
                    {
                        "part": shown.part.key,
                        "problem": shown.problem,
                        "computed_at": shown.computed_at,
                        "is_old": shown.is_old,
                        "sections": shown.sections,
                    }
                    for shown in chapter.parts
                ],
            }
            for chapter in report.chapters
        ],
    }


def report_html(report: Report) -> str:
    """One file with its styles, scripts and data inside: it opens without a server and asks none for anything."""
    chapters, charts = [], []
    for chapter in report.chapters:
        parts = []
        for shown in chapter.parts:
            # keys are unique within a page only
            sections = [{**section, "key": f"{chapter.analysis.key}-{section['key']}"} for section in shown.sections]
            parts.append({"shown": shown, "sections": sections})
            charts += [
                {**section["chart"], "key": section["key"], "systems": shown.systems}
                for section in sections
                if section["chart"]
            ]
        chapters.append({"analysis": chapter.analysis, "parts": parts})
    return render_to_string(
        "evaluation/overview/report_file.html",
        {
            "report": report,
            "pool": report.pool,
            "chapters": chapters,
            "charts": charts,
            "style": _style(STYLES),
            "plotly": _script(PLOTLY),
            "charts_code": one_module(CHARTS),
        },
    )


def inline_script(code: str) -> SafeString:
    """JavaScript as it may stand in a <script>: nothing in it ends the element, or makes a comment of it."""
    safe = re.sub(r"</(?=script)", r"<\\/", code, flags=re.IGNORECASE).replace("<!--", r"<\!--")
    return mark_safe(re.sub(r"<(?=script)", r"\\x3c", safe, flags=re.IGNORECASE))


def one_module(names: Sequence[str]) -> SafeString:
    """Our modules as one: what they import of each other is there already."""
    code = "\n".join(_script(name) for name in names)
    return mark_safe(re.sub(r"^import .*\n", "", code, flags=re.MULTILINE))


def _static(name: str) -> Path:
    path = finders.find(name)
    if not isinstance(path, str):
        raise FileNotFoundError(f"static file {name}")
    return Path(path)


def _script(name: str) -> SafeString:
    path = _static(name)
    return _read_script(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _read_script(path: Path, _changed: int) -> SafeString:
    return inline_script(path.read_text(encoding="utf-8"))


def _style(names: Sequence[str]) -> SafeString:
    """Our own stylesheets: they hold no text of others."""
    return mark_safe("\n".join(_static(name).read_text(encoding="utf-8") for name in names))

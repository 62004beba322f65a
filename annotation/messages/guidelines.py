"""Keep guidelines as Markdown in versions, and turn Markdown into safe HTML."""

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

import nh3
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Q
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict

from annotation.enums import AnnotationAct
from annotation.errors import CampaignError
from annotation.judging.judgements import live_labels
from annotation.models import Campaign, GuidelineVersion, Membership
from core.people.audit_log import record
from core.tables import framed

EMPTY = "The guidelines are empty: write how to answer. Nothing was changed."
MAX_LENGTH = 50_000
_TOP = 3  # a page has one h1, and its parts are h2
_TAGS = {
    *("p", "br", "hr", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "a"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}


def alt_text(renderer: RendererHTML, tokens: Sequence[Token], at: int, options: OptionsDict, env: Any) -> str:
    """Render an image as its words, so that no page loads it from elsewhere (a rule of markdown-it)."""
    return escapeHtml(renderer.renderInlineAsText(tokens[at].children or [], options, env))


def _may_link(url: str) -> bool:
    """Allow https and mailto; a refused link stays on the page as the text that was typed."""
    return url.lower().startswith(("https://", "mailto:"))


def _keep(tag: str, attribute: str, value: str) -> str | None:
    return None if attribute == "href" and not _may_link(value) else value


_READER = MarkdownIt("commonmark", {"html": False}).enable("table")
_READER.validateLink = _may_link  # type: ignore[method-assign]  # markdown-it's own way to say which
_READER.add_render_rule("image", alt_text)


def render_markdown(text: str) -> SafeString:
    """Return safe HTML of a person's Markdown: no raw HTML, no images, links to https and mailto only.

    The highest heading in the text becomes h3, so that none outranks the headings of the page.
    """
    tokens = _READER.parse(text)
    headings = [token for token in tokens if token.type in ("heading_open", "heading_close")]
    highest = min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(int(token.tag[1]) - highest + _TOP, 6)}"
    html = nh3.clean(
        _READER.renderer.render(tokens, _READER.options, {}),
        tags=_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}, "*": set()},
        attribute_filter=_keep,
        url_schemes={"https", "mailto"},
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},  # questions on the screen stay there
    )
    return mark_safe(framed(html))  # cleaned by nh3, after which "<table>" is nothing but the tag


def first_guidelines(campaign: Campaign) -> GuidelineVersion:
    """Create version 1 for a new campaign: the usual text, for a manager to change."""
    return GuidelineVersion.objects.create(campaign=campaign, version=1, text=usual_guidelines())


def usual_guidelines() -> str:
    return (settings.BASE_DIR / "fixtures" / "guidelines.md").read_text(encoding="utf-8").strip()


def current_guidelines(campaign: Campaign) -> GuidelineVersion | None:
    """Return the newest version; None if there is none."""
    return campaign.guideline_versions.order_by("-version").first()


def mark_read(person: User, version: GuidelineVersion) -> None:
    """Remember that a member opened this version, so that no browser asks them to read it again."""
    rows = Membership.objects.filter(campaign=version.campaign_id, person=person, guidelines_read__lt=version.version)
    if rows.exists():  # reading is no reason to wait for whoever writes
        rows.update(guidelines_read=version.version)


def version_read(person: User, campaign: Campaign) -> int:
    """Return the newest version that a member opened; 0 if none."""
    return campaign.members.filter(person=person).aggregate(n=Max("guidelines_read"))["n"] or 0


def save_guidelines(
    campaign: Campaign, text: str, *, by: User | None = None, after: int | None = None
) -> GuidelineVersion:
    """Save a new version and return it, or the newest one if nothing changed.

    `after`: the version that the writer has seen, so that nobody overwrites text they have not read. CampaignError if
    the text is empty or too long, or somebody else saved first.
    """
    text = "\n".join(line.rstrip() for line in text.replace("\0", "").strip().splitlines())
    if not text:
        raise CampaignError(EMPTY)
    if len(text) > MAX_LENGTH:
        raise CampaignError(
            f"The guidelines have {len(text):,} characters: shorten them to {MAX_LENGTH:,}. Nothing was changed."
        )
    newest = current_guidelines(campaign)
    if newest is not None and newest.text == text:
        return newest
    number = newest.version + 1 if newest else 1
    if after is not None and after != number - 1:
        raise CampaignError(
            f"Somebody saved version {number - 1} while you wrote. Yours is still below and not saved: "
            "compare it with theirs, then save again."
        )
    try:
        with transaction.atomic():
            saved = GuidelineVersion.objects.create(campaign=campaign, version=number, text=text, created_by=by)
            record(by, AnnotationAct.GUIDELINES_SAVED, pool=campaign.pool, about=f"version {number}")
    except IntegrityError as error:
        raise CampaignError(
            "Somebody else saved guidelines a moment ago. Look at their version, then save again."
        ) from error
    return saved


def labels_by_version(campaign: Campaign, versions: Sequence[GuidelineVersion]) -> dict[int, int]:
    """Return version -> labels that count and were given while it was newest, in one query."""
    start = dict(campaign.guideline_versions.values_list("version", "created_at"))
    periods = {}
    for one in versions:
        period = Q(created_at__gte=one.created_at) if one.version > 1 else Q()
        if one.version + 1 in start:
            period &= Q(created_at__lt=start[one.version + 1])
        periods[f"v{one.version}"] = Count("id", filter=period)
    counts = live_labels().filter(item__campaign=campaign).order_by().aggregate(**periods)
    return {one.version: counts[f"v{one.version}"] for one in versions}


class DiffLine(NamedTuple):
    """A line of a difference: sign + (added), − (removed), space (unchanged) or … (unchanged lines left out)."""

    sign: str
    text: str

    @property
    def style(self) -> str:
        """Return the CSS class of the line; none where it stayed."""
        return {"+": "line-came", "−": "line-went", "…": "line-gap"}.get(self.sign, "")


def diff_lines(before: str, after: str, *, around: int = 2) -> list[DiffLine]:
    """Return what changed between two texts by lines, with `around` unchanged lines beside each change."""
    old, new = before.splitlines(), after.splitlines()
    found: list[DiffLine] = []
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(around):
        if group[0][1] > 0:
            found.append(DiffLine("…", ""))
        for what, i, j, k, m in group:
            if what == "equal":
                found += [DiffLine(" ", line) for line in old[i:j]]
            else:
                found += [DiffLine("−", line) for line in old[i:j]]
                found += [DiffLine("+", line) for line in new[k:m]]
    return found

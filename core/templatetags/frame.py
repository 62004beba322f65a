"""Title, heading and breadcrumbs of the current page, from config/pages.py, which base.html writes."""

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from config.pages import IN_SIDEBAR, PAGES, WITHOUT_ENTRY, way_up
from core.people.roles import WORDS, SiteRole

register = template.Library()


def _frame(context: Context) -> str:
    """Return the page's key in PAGES, or "" for a page of no URL of ours (404, 500)."""
    if "frame" in context:
        return str(context["frame"])
    match = getattr(context.get("request"), "resolver_match", None)
    return match.url_name if match and match.url_name in PAGES else ""


@register.simple_tag(takes_context=True)
def keep_pool(context: Context) -> str:
    """Return "?pool=NAME" for a link to another page of the graph, if this one was reached from a pool, else ""."""
    name = context["request"].GET.get("pool", "")
    return f"?{urlencode({'pool': name})}" if name else ""


@register.simple_tag(takes_context=True)
def page_title(context: Context) -> str:
    """Return the title of the browser's window, without the name of the site."""
    page = PAGES.get(_frame(context))
    return str(page.title or page.crumb).format_map(context) if page else "TriplePool"


@register.simple_tag(takes_context=True)
def page_heading(context: Context) -> str:
    """Return the words of the page's h1."""
    page = PAGES.get(_frame(context))
    return str(page.heading or page.crumb).format_map(context) if page else ""


@register.simple_tag(takes_context=True)
def breadcrumbs(context: Context) -> SafeString:
    """Return a list item for each page on the way down to this one; nothing on a page that has none above it.

    Beside a sidebar (`site_sidebar` in the context), the way begins below the pages that it shows; of a page that it
    has no entry for, with the last of them.
    """
    frame = _frame(context)
    if not frame or not PAGES[frame].parent:
        return SafeString()
    frame, *above = way_up(frame)
    last = format_html('<li aria-current="page">{}</li>', str(PAGES[frame].crumb).format_map(context))
    if context.get("site_sidebar"):
        below = [page for page in above if page not in IN_SIDEBAR]
        above = below or (above[:1] if frame in WITHOUT_ENTRY else [])
        if not above:
            return SafeString()
    items = [(_url(page, context), str(PAGES[page].crumb).format_map(context)) for page in reversed(above)]
    return format_html_join("", '<li><a href="{}">{}</a></li>', items) + last


NOTICES = {"error": " notice-error", "warning": " notice-warn", "success": " notice-done"}


@register.filter
def notice(level_tag: str) -> str:
    """Return the CSS classes of a message of this level."""
    return f"notice{NOTICES.get(level_tag, '')}"


@register.simple_tag(takes_context=True)
def live(context: Context, name: str, is_live: object, seconds: int = 2) -> SafeString:
    """Return the id of a part of a page, and while `is_live` the attributes that renew it every few seconds.

    The part is cut out of the page as it then is, with the state and the buttons beside the heading.
    static/js/lib/live.js keeps what somebody opened, ticked or typed in it.
    """
    if not is_live:
        return format_html('id="{}"', name)
    return format_html(
        'id="{0}" hx-get="{1}" hx-trigger="every {2}s" hx-select="#{0}" hx-swap="outerHTML" '
        'hx-select-oob="#page-state,#page-actions"',
        name,
        context["request"].get_full_path(),
        seconds,
    )


def _url(frame: str, context: Context) -> str:
    names = next((PAGES[page].args for page in way_up(frame) if PAGES[page].args), "")
    return reverse(frame, args=[f"{{{name}}}".format_map(context) for name in names.split()])


@register.filter
def role_name(role: str) -> str:
    """Return a role in the language of the page."""
    return str(WORDS[role])


@register.filter
def site_role(role: str) -> str:
    """Return the sentence that tells a person of their role of the site."""
    if role == SiteRole.MANAGER:
        return gettext("You are a manager of this site.")
    return gettext("You are a researcher of this site.")

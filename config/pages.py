"""Title, heading and breadcrumbs of every page, by the name of its URL.

Pages of people who label have their words marked for translation. KEYWORDS are what the search finds pages by.
The words may name variables of the page's context: "{pool.name}". Tags of core/templatetags/frame.py write them.
A view that shows another page at the same URL (an archive) names its row in the context variable `frame`.
"""

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Page(NamedTuple):
    parent: str  # the page above it in the breadcrumbs; empty: it has none
    crumb: str | Promise  # the page in the breadcrumbs
    title: str | Promise = ""  # of the browser's window; the crumb if empty
    heading: str | Promise = ""  # above the content; the crumb if empty
    args: str = ""  # arguments of its URL; those of the parent if empty


# pages that the sidebar shows as where one is: breadcrumbs beside it begin below them
IN_SIDEBAR = frozenset({"graphs", "graph", "pools", "pool", "campaign", "evaluation"})
# pages below these that the sidebar has no entry for: their breadcrumbs say where they belong
WITHOUT_ENTRY = frozenset({"graph-delete", "pool-delete"})
PAGES = {
    "login": Page("", _("Sign in")),
    "home": Page("", _("Home"), _("Home"), "Pools in work"),
    "search": Page("", _("Search")),
    "help": Page("", "Help"),
    "help-page": Page("help", "{page.title}"),
    "api-docs": Page("account-tokens", "API"),
    # an account
    "account": Page("", _("Account")),
    "account-tokens": Page("account", "API tokens"),
    "account-password": Page("account", _("Change password")),
    "account-erase": Page(
        "account", _("Erase"), _("Erase personal data"), _("Erase the personal data of your account")
    ),
    "password-forgotten": Page("", _("Forgotten password")),
    "password-sent": Page("", _("Check your mail")),
    "password-new": Page("", _("New password")),
    "password-new-done": Page("", _("The password is changed")),
    "invitation": Page("", _("Invitation")),
    "notices": Page("", "Notices"),
    "webhooks": Page("notices", "Webhooks"),
    "webhook": Page("webhooks", "{webhook.host}", "Webhook to {webhook.host}", args="webhook.pk"),
    "people": Page("", "People", "People of this site", "People of this site"),
    "person": Page("people", "{person.username}", args="person.pk"),
    "person-erase": Page("person", "Erase", "Erase personal data", "Erase the personal data of {person.username}"),
    "audit": Page("people", "Audit log"),
    "jobs": Page("", "Jobs"),
    "job": Page("jobs", "{job.pk}", "Job {job.pk}"),
    # graphs
    "graphs": Page("", "Graphs"),
    "graphs-archive": Page("graphs", "Archive", "Graphs", "Archived graphs"),
    "graph-import": Page("graphs", "Import", "Import a graph", "Import a graph"),
    "graph-import-confirm": Page("graph-import", "Preview", "Preview of a graph", "Is this the graph?"),
    "graph": Page("graphs", "{graph.name}", "{graph.name} (graph)", args="graph.name"),
    "graph-delete": Page("graph", "Delete", "Delete {graph.name}", "Delete the graph {graph.name}"),
    "systems-all": Page("graphs", "All systems"),
    "systems": Page("graph", "Systems", "Systems of {graph.name}"),
    "systems-archive": Page("systems", "Archive", "Systems of {graph.name}", "Archived systems"),
    "systems-compare": Page("systems", "Compare training", "Compare training of systems of {graph.name}"),
    "system": Page("systems", "{shown_name}", "{shown_name} on {graph.name}", args="graph.name system.name"),
    "system-new": Page("systems", "Set up {spec.label}"),
    "system-clone": Page("system", "Clone", "Clone {shown_name}", "Clone {shown_name}"),
    "system-retrain": Page("system", "Retrain", "Retrain {shown_name}", "Retrain {shown_name}"),
    "system-delete": Page("system", "Delete", "Delete {shown_name}", "Delete the system {shown_name}"),
    "runs": Page("graph", "Runs", "Runs on {graph.name}"),
    "run": Page("runs", "{shown_name}", "Run of {shown_name} on {graph.name}", "Run {shown_name}"),
    # pools
    "pools": Page("", "Pools"),
    "pools-archive": Page("pools", "Archive", "Pools", "Archived pools"),
    "pool-new": Page("pools", "Build", "Build a pool", "Build a pool"),
    "pool-import": Page("pools", "Import a pool", "Import a pool", "Import a pool"),
    "test-set-import": Page("pools", "Import", "Import a judged test set", "Import a judged test set"),
    "pool": Page("pools", "{pool.name}", "{pool.name} (pool)", args="pool.name"),
    "pool-delete": Page("pool", "Delete", "Delete {pool.name}", "Delete the pool {pool.name}"),
    "pool-triples": Page("pool", "Pooled triples", "Pooled triples of {pool.name}"),
    "pool-seeds": Page("pool", "Seeds", "Seeds of {pool.name}"),
    "pool-overlap": Page("pool", "Overlap of systems", "Overlap of systems in {pool.name}"),
    "pool-growth": Page("pool", "Growth", "Growth of {pool.name}"),
    "pool-filter": Page("pool", "Filter", "Filter of {pool.name}"),
    "pool-questions": Page("pool", "Questions", "Questions of {pool.name}"),
    "pool-questions-import": Page("pool-questions", "Import", "Import questions into {pool.name}", "Import questions"),
    "pool-missing-labels": Page("pool-questions", "Missing labels", "Missing labels of {pool.name}"),
    "pool-question": Page("pool-questions", "Versions", "Questions of {relation.name}"),
    # campaigns, for managers
    "campaign": Page("pool", "Progress", "Progress of {pool.name}"),
    "campaign-rules": Page("campaign", "Rules", "Rules of {pool.name}"),
    "campaign-order": Page("campaign", "Order of judging", "Order of judging {pool.name}"),
    "campaign-people": Page("campaign", "People", "People of {pool.name}"),
    "campaign-guidelines": Page("campaign", "Guidelines", "Guidelines of {pool.name}"),
    "campaign-sources": Page("campaign", "Sources", "Sources of {pool.name}"),
    "campaign-source": Page("campaign-sources", "{source.name}"),
    "campaign-triples": Page("campaign", "Items", "{listed} of {pool.name}", "{listed}"),
    "campaign-triples-bulk": Page("campaign-triples", "Chosen items", "Items of {pool.name}", "Chosen items"),
    "campaign-triple": Page("campaign-triples", "Item {item.pk}", "An item of {pool.name}", "{asked.statement}"),
    "checks": Page("campaign", "Checks", "Checks of {pool.name}"),
    "inbox": Page("campaign", "Inbox", "Inbox of {pool.name}"),
    "inbox-comments": Page("inbox", "Comments", "Comments in {pool.name}", "Comments on labels"),
    "quality": Page("campaign", "Agreement", "Agreement in {pool.name}"),
    "annotators": Page("campaign", "Annotators", "Annotators of {pool.name}"),
    "annotator": Page("annotators", "{detail.person.username}", "{detail.person.username} in {pool.name}"),
    "withdraw": Page(
        "campaign",
        "Withdraw labels",
        "Withdraw the labels of {person.username}",
        "Withdraw the labels of {person.username}",
    ),
    # campaigns, for the people who label
    "annotate": Page("", _("Annotate {campaign.pool.name}")),
    "adjudicate": Page("", _("Adjudicate {campaign.pool.name}")),
    "my-labels": Page("", _("My labels"), _("My labels in {campaign.pool.name}")),
    "disputes": Page("", _("Disputes"), _("Disputes in {campaign.pool.name}")),
    "messages": Page("", _("Reported statements"), _("Reported statements in {campaign.pool.name}")),
    "guidelines": Page("", _("Guidelines"), _("Guidelines of {pool.name}")),
    "campaign-training": Page("", _("Training"), _("Training for {campaign.pool.name}")),
    "consent": Page("", _("Personal data"), _("Personal data in {campaign.pool.name}")),
    # evaluation
    "evaluation": Page("pool", "Results overview", "Results overview of {pool.name}"),
    "analysis": Page("evaluation", "{analysis.title}", "{analysis.title} of {pool.name}"),
    "evaluation-labels": Page("evaluation", "Label sets", "Label sets of {pool.name}"),
    "evaluation-report": Page("evaluation", "Report", "Report of {pool.name}"),
    "evaluation-questions": Page("evaluation", "Questions", "Questions of {pool.name} under evaluation"),
    "evaluation-question": Page("evaluation-questions", "{question.pattern}", "{question.words}", "{question.words}"),
    "evaluation-triples": Page("evaluation", "Triples", "Triples of {pool.name} under evaluation"),
    "evaluation-triple": Page(
        "evaluation-triples",
        "{triple.keys[0]}, {triple.keys[1]}, {triple.keys[2]}",
        "{triple.statement}",
        "{triple.statement}",
    ),
    "export": Page("pool", "Export", "Export of {pool.name}"),
    "export-terms": Page(
        "export", "Terms of {qrels.name}", "Terms of {qrels.name}", "Licence and citation", args="pool.name qrels.name"
    ),
    "papers": Page("home", "Papers"),
    "open-world": Page("home", "Open world"),
    "open-world-studies": Page("open-world", "Studies", "Open-world studies", "Open-world studies"),
    "open-world-study": Page("open-world-studies", "{study.name}", "Study {study.name}", args="study.name"),
    "study-delete": Page("open-world-study", "Delete", "Delete {study.name}", "Delete the study {study.name}"),
}

# what people type to find a page, beside its name; of an item of the sidebar (config/sidebar.py) by its `page`
KEYWORDS: dict[str, str | Promise] = {
    "home": _("my work, what is left, start"),
    "account": _(
        "dark theme, light theme, language, German, Deutsch, English, time zone, keys, e-mail, goal of the day, "
        "download my data, privacy"
    ),
    "account#keys": _("keys, keyboard, shortcuts"),
    "account-tokens": _("keys, API keys, script"),
    "account-password": _("password, change password"),
    "account-erase": _("delete my account, privacy"),
    "people": "invite, invitation, accounts, users, roles, reset a password",
    "audit": "log, history, who did what",
    "jobs": "progress, running, failed, queue, worker, cancel, stop",
    "notices": "notifications, bell, e-mail digest",
    "webhooks": "tell another program, callback, Slack, notify, integration",
    "pool-new": "new pool",
    "graph-import": "upload, data set, TSV",
    "api-docs": "script, REST",
    # of the sidebar
    "pool": "status, next step, start",
    "systems": "models, train, upload, TransE",
    "runs": "predictions, upload",
    "pool-triples": "candidates",
    "pool-filter": "duplicates, known triples, rules",
    "pool-questions": "words, wording, templates, verbalise",
    "campaign-sources": "evidence, links, hosts, search engines",
    "campaign-guidelines": "instructions, manual",
    "campaign-people": "invite, invitation, annotators, adjudicators, roles, undo, withdraw labels, take back labels",
    "campaign-rules": "settings, evidence, pause, close, open again, consent, undo time",
    "campaign-order": "batches, release, budget, stop",
    "campaign": "finish date, deadline, cost, money, pace, how far, labels left, open the campaign",
    "campaign-triples": "reopen, assign items to a person, ask two others, return to the pool",
    "campaign-triples?state=disputed": "disputed, adjudication, disagreement",
    "inbox": "reports, messages, comments, complaints",
    "quality": "kappa, alpha, inter-annotator agreement, reliability, who disagrees, disagreements, worst relation",
    "annotators": "undo, withdraw labels, speed, slow, fast, worst, best, hours",
    "checks": "gold, training, attention, re-check",
    "evaluation": "results, leaderboard, winner, best system, MRR",
    "evaluation-labels": "compare labels, frozen qrels",
    "evaluation-report": "print, one file, download a report",
    "papers": "tables, figures",
    "export": "test set, completed test set, freeze, freeze qrels, qrels, cite, BibTeX, download, TREC, licence, "
    "citation",
    "analysis/measures": "MRR, MAP, nDCG, Hits",
    "analysis/correlation": "tau, Kendall, rank correlation, which ranking is reliable, trustworthy",
    "analysis/stability": "tau, reliability, reliable, trustworthy, fewer labels, how many questions, how many labels",
    "analysis/discriminative": "significance, p-value, Tukey HSD, compare two systems, reliable, trustworthy, how sure",
    "analysis/audit": "filter errors",
    # of people who label
    "annotate": _("label, answer, statements"),
    "my-labels": _("undo, change an answer, change a decision, withdraw, mistake"),
    "guidelines": _("instructions, manual"),
    "messages": _("report a problem, answers to reports"),
    "adjudicate": _("adjudication, decide, disputed, reason, wrong entity, ask two others"),
    "disputes": _("adjudication, disputed, disagreements"),
}


def way_up(page: str) -> Iterator[str]:
    """Yield a page and the pages above it, nearest first; nothing for a page that is not listed."""
    while page in PAGES:
        yield page
        page = PAGES[page].parent

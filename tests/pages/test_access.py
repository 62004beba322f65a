"""Every route of the site as everybody; a route that is not in the table fails the first test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotation.campaigns.lifecycle import open_campaign
from tests.pages.world import make_graph, make_person, make_pool

ROLES = (None, "annotator", "adjudicator", "researcher", "manager")
UPLOAD = "00000000-0000-0000-0000-000000000000"
POST_ONLY = (401, 405, 405, 405, 405)
JOB = object()  # the job of the world
SOURCE = object()  # the first source of its campaign
ANNOTATOR = object()  # the annotator of the world
WEBHOOK = object()  # the webhook of the world
ITEM = object()  # the first item of its campaign
NO_UPLOAD = "00000000-0000-0000-0000-000000000000"
API = (401, 403, 403, 200, 200)  # JSON for who may evaluate
POST_ONLY_API = (401, 403, 403, 403, 405)  # of managers
PUBLIC = (200, 200, 200, 200, 200)
EVERYBODY = (302, 200, 200, 200, 200)
EVALUATORS = (302, 403, 403, 200, 200)
MANAGERS = (302, 403, 403, 403, 200)

# name -> (arguments, what GET answers a stranger, annotator, adjudicator, researcher, manager)
PAGES: dict[str, tuple[tuple[object, ...], tuple[int, ...]]] = {
    "login": ((), (200, 302, 302, 302, 302)),
    "logout": ((), (302, 405, 405, 405, 405)),
    "language": ((), (405, 405, 405, 405, 405)),
    "words": (("de",), PUBLIC),
    "home": ((), (302, 200, 200, 200, 200)),
    "graphs": ((), EVALUATORS),
    "graph": (("town",), EVALUATORS),
    "graph-import": ((), MANAGERS),
    "graph-import-confirm": ((NO_UPLOAD,), (302, 403, 403, 403, 404)),
    "systems": (("town",), EVALUATORS),
    "system": (("town", "rotate"), EVALUATORS),
    "systems-compare": (("town",), EVALUATORS),
    "systems-compare-csv": (("town", "loss"), EVALUATORS),
    "system-rules": (("town", "rotate"), (302, 403, 403, 404, 404)),  # it mines none
    "system-new": (("town", "transe"), MANAGERS),
    "system-clone": (("town", "rotate"), MANAGERS),
    "system-retrain": (("town", "rotate"), (302, 403, 403, 403, 302)),  # it has a run: back to its page
    "system-archive": (("town", "rotate"), (302, 403, 403, 403, 405)),
    "system-restore": (("town", "rotate"), (302, 403, 403, 403, 405)),
    "system-file": (("town", "rotate", "weights.safetensors"), (302, 403, 403, 409, 409)),  # no checkpoint
    "runs": (("town",), EVALUATORS),
    "run-file": (("town", "rotate"), (302, 403, 403, 409, 409)),  # its files are not there
    "run": (("town", "rotate"), EVALUATORS),
    "run-publish": (("town", "rotate"), (302, 403, 403, 405, 405)),
    "run-replace": (("town", "rotate"), (302, 403, 403, 405, 405)),
    "run-delete": (("town", "rotate"), (302, 403, 403, 405, 405)),
    "run-parquet": (("town", "rotate"), (302, 403, 403, 409, 409)),
    "systems-all": ((), EVALUATORS),
    "pools": ((), EVALUATORS),
    "pool-new": ((), MANAGERS),
    "pool-import": ((), MANAGERS),
    "pool": (("town-pool",), EVALUATORS),
    "pool-triples": (("town-pool",), EVALUATORS),
    "pool-switch": ((), EVALUATORS),
    "pool-attention": (("town-pool",), MANAGERS),
    "attention": ((), EVALUATORS),
    "notices": ((), MANAGERS),
    "webhooks": ((), MANAGERS),
    "webhook": ((WEBHOOK,), MANAGERS),
    "search": ((), EVERYBODY),
    "pool-seeds": (("town-pool",), EVALUATORS),
    "pool-seeds-csv": (("town-pool",), EVALUATORS),
    "pool-overlap": (("town-pool",), EVALUATORS),
    "pool-overlap-csv": (("town-pool",), EVALUATORS),
    "pool-growth": (("town-pool",), EVALUATORS),
    "pool-freeze": (("town-pool",), (302, 403, 403, 403, 405)),
    "pool-filter": (("town-pool",), EVALUATORS),
    "pool-score": (("town-pool",), (302, 405, 405, 405, 405)),
    "pool-questions": (("town-pool",), EVALUATORS),
    "pool-questions-tsv": (("town-pool",), EVALUATORS),
    "pool-questions-import": (("town-pool",), MANAGERS),
    "pool-missing-labels": (("town-pool",), EVALUATORS),
    "pool-question": (("town-pool", 0), EVALUATORS),
    "campaign-sources": (("town-pool",), MANAGERS),
    "campaign-source": (("town-pool", SOURCE), MANAGERS),
    "campaign-guidelines": (("town-pool",), MANAGERS),
    "campaign": (("town-pool",), EVALUATORS),
    "campaign-rules": (("town-pool",), MANAGERS),
    "campaign-order": (("town-pool",), MANAGERS),
    "inbox": (("town-pool",), MANAGERS),
    "campaign-triples": (("town-pool",), MANAGERS),
    "campaign-triples-csv": (("town-pool",), MANAGERS),
    "campaign-triples-bulk": (("town-pool",), (302, 405, 405, 405, 405)),
    "campaign-triple": (("town-pool", ITEM), MANAGERS),
    "checks": (("town-pool",), MANAGERS),
    "withdraw": (("town-pool", ANNOTATOR), MANAGERS),
    "quality": (("town-pool",), EVALUATORS),
    "annotators": (("town-pool",), MANAGERS),
    "annotator": (("town-pool", ANNOTATOR), MANAGERS),
    "hours": (("town-pool",), MANAGERS),
    "people": ((), MANAGERS),
    "person": ((ANNOTATOR,), MANAGERS),
    "person-erase": ((ANNOTATOR,), MANAGERS),
    "campaign-people": (("town-pool",), MANAGERS),
    "audit": ((), MANAGERS),
    "invitation": (("no-such-token",), (404, 404, 404, 404, 404)),
    "campaign-training": (("town-pool",), (302, 200, 200, 403, 403)),
    "consent": (("town-pool",), (302, 200, 200, 403, 403)),
    "account": ((), EVERYBODY),
    "account-password": ((), EVERYBODY),
    "admin-password": ((), (302, 302, 302, 302, 302)),
    "account-time-zone": ((), (302, 405, 405, 405, 405)),
    "account-data": ((), EVERYBODY),
    "account-erase": ((), EVERYBODY),
    "account-tokens": ((), EVERYBODY),
    "password-forgotten": ((), PUBLIC),
    "password-sent": ((), PUBLIC),
    "password-new": (("x", "y"), PUBLIC),
    "password-new-done": ((), PUBLIC),
    "jobs": ((), EVALUATORS),
    "job": ((JOB,), EVALUATORS),
    "job-cancel": ((JOB,), (302, 403, 403, 403, 405)),
    "job-retry": ((JOB,), (302, 403, 403, 403, 405)),
    "annotate": (("town-pool",), (302, 200, 200, 403, 403)),
    "my-labels": (("town-pool",), (302, 200, 200, 403, 403)),
    "adjudicate": (("town-pool",), (302, 403, 200, 403, 403)),
    "disputes": (("town-pool",), (302, 403, 200, 403, 403)),
    "messages": (("town-pool",), (302, 200, 200, 403, 403)),
    "guidelines": (("town-pool",), (302, 200, 200, 200, 200)),
    "api-claim": (("town-pool",), POST_ONLY),
    "api-own-labels": (("town-pool",), (401, 200, 200, 403, 403)),
    "api-claim-disputed": (("town-pool",), POST_ONLY),
    "api-renew": ((), POST_ONLY),
    "api-release": ((), POST_ONLY),
    "api-submit": ((), POST_ONLY),
    "api-change": (("00000000-0000-0000-0000-000000000000",), POST_ONLY),
    "api-submit-decision": ((), POST_ONLY),
    "api-progress": (("town-pool",), (401, 200, 200, 403, 403)),
    "api-return": ((), POST_ONLY),
    "api-flag": ((), POST_ONLY),
    "graph-archive": (("town",), (302, 405, 405, 405, 405)),
    "graph-delete": (("town",), MANAGERS),
    "system-delete": (("town", "rotate"), MANAGERS),
    "pool-archive": (("town-pool",), (302, 405, 405, 405, 405)),
    "pool-delete": (("town-pool",), MANAGERS),
    "study-delete": (("town-study",), MANAGERS),
    "test-set-import": ((), MANAGERS),
    "papers": ((), EVALUATORS),
    "paper": (("003",), (302, 403, 403, 302, 302)),
    "open-world": ((), EVALUATORS),
    "open-world-csv": (("theory",), EVALUATORS),
    "open-world-studies": ((), EVALUATORS),
    "open-world-study": (("town-study",), EVALUATORS),
    "open-world-study-version": (("town-study",), EVALUATORS),
    "open-world-study-continue": (("town-study",), (302, 405, 405, 405, 405)),
    "open-world-study-json": (("town-study",), (302, 403, 403, 400, 400)),  # nothing was evaluated yet
    "open-world-study-csv": (("town-study", "summary"), (302, 403, 403, 400, 400)),
    "evaluation": (("town-pool",), EVALUATORS),
    "evaluation-version": (("town-pool",), EVALUATORS),
    "analysis": (("town-pool", "stability"), EVALUATORS),
    "analysis-json": (("town-pool", "stability"), (302, 403, 403, 400, 400)),  # no runs to evaluate
    "analysis-csv": (("town-pool", "stability", "stability-questions"), (302, 403, 403, 400, 400)),
    "analysis-compute": (("town-pool", "stability", "labels"), (302, 405, 405, 405, 405)),
    "reusability-extend": (("town-pool",), (302, 405, 405, 405, 405)),
    "max-k-score": (("town-pool",), (302, 405, 405, 405, 405)),
    "classification-score": (("town-pool",), (302, 405, 405, 405, 405)),
    "evaluation-labels": (("town-pool",), EVALUATORS),
    "evaluation-labels-csv": (("town-pool",), (302, 403, 403, 400, 400)),  # no runs
    "help": ((), EVERYBODY),
    "help-page": (("evaluation",), EVALUATORS),
    "evaluation-report": (("town-pool",), EVALUATORS),
    "report-download": (("town-pool",), EVALUATORS),
    "evaluation-questions": (("town-pool",), EVALUATORS),
    "evaluation-questions-csv": (("town-pool",), EVALUATORS),
    "evaluation-question": (("town-pool", "tail", 0, 0), EVALUATORS),
    "evaluation-triples": (("town-pool",), EVALUATORS),
    "evaluation-triples-csv": (("town-pool",), EVALUATORS),
    "evaluation-triple": (("town-pool", 0, 0, 4), EVALUATORS),
    "export": (("town-pool",), EVALUATORS),
    "export-trec-file": (("town-pool", "qrels.txt"), EVALUATORS),
    "export-terms": (("town-pool", "none"), (302, 403, 403, 404, 404)),
    "export-start": (("town-pool", "none"), (302, 405, 405, 405, 405)),
    "export-download": (("town-pool", "none", 1), (302, 403, 403, 404, 404)),
    "api-docs": ((), EVERYBODY),
    "api-schema": ((), PUBLIC),
    "api-graphs": ((), API),
    "api-graph-uploads": ((), POST_ONLY_API),
    "api-graph-upload-preview": ((NO_UPLOAD,), POST_ONLY_API),
    "api-graph-upload-import": ((NO_UPLOAD,), POST_ONLY_API),
    "api-graph": (("town",), API),
    "api-systems": ((), API),
    "api-system": (("town", "rotate"), API),
    "api-runs": ((), API),
    "api-pools": ((), API),
    "api-pool": (("town-pool",), API),
    "api-jobs": ((), API),
    "api-job": ((JOB,), API),
    "api-job-cancel": ((JOB,), POST_ONLY_API),
    "api-job-retry": ((JOB,), POST_ONLY_API),
    "api-graph-runs": (("town",), API),
    "api-run": (("town", "rotate"), API),
    "api-uploads": (("town",), (401, 403, 403, 405, 405)),
    "api-upload": ((UPLOAD,), (401, 403, 403, 404, 404)),
    "api-upload-part": ((UPLOAD, 1), (401, 403, 403, 405, 405)),
    "api-upload-topics": ((UPLOAD,), (401, 403, 403, 405, 405)),
    "api-upload-finish": ((UPLOAD,), (401, 403, 403, 405, 405)),
    "api-run-publish": (("town", "rotate"), (401, 403, 403, 405, 405)),
    "api-run-replace": (("town", "rotate"), (401, 403, 403, 405, 405)),
    "api-run-download": (("town", "rotate"), (401, 403, 403, 503, 503)),
    "api-campaigns": ((), (401, 200, 200, 200, 200)),
    "api-campaign": (("town-pool",), (401, 200, 200, 200, 200)),
    "api-items": (("town-pool",), (401, 403, 403, 403, 200)),
    "api-with-slash": (("measures",), API),
    "api-judgements": (("town-pool",), API),
    "api-nothing": ((), (401, 404, 404, 404, 404)),
    "api-measures": ((), API),
    "api-measure": (("micro_hits@7",), API),
    "api-analyses": ((), API),
    "api-evaluations": (("town-pool",), (401, 403, 403, 503, 503)),  # the files of its runs are not there
    "api-evaluation": (("town-pool", "stability"), (401, 403, 403, 503, 503)),
    "api-pool-qrels": (("town-pool",), API),
    "api-qrels": (("town-pool", "none"), (401, 403, 403, 404, 404)),
    "api-qrels-terms": (("town-pool", "none"), (401, 403, 403, 404, 404)),
    "api-imported-qrels": (("town-pool",), POST_ONLY_API),
    "api-test-sets": ((), POST_ONLY_API),
    "api-trec-file": (("town-pool", "qrels.txt"), API),
    "api-pool-exports": (("town-pool",), API),
    "api-export": ((1,), (401, 403, 403, 404, 404)),
    "api-export-download": ((1,), (401, 403, 403, 404, 404)),
}


def routes(patterns: list | None = None) -> Iterator[tuple[str, URLPattern]]:
    """Name and pattern of every route of the site; the admin looks after its own."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        if not isinstance(pattern, URLResolver):
            yield str(pattern.name), pattern
        elif pattern.app_name != "admin":
            yield from routes(pattern.url_patterns)


def url_of(name: str, world: dict) -> str:
    known = {
        JOB: lambda: world["job"].pk,
        ANNOTATOR: lambda: world["annotator"].pk,
        SOURCE: lambda: world["campaign"].sources.first().pk,
        WEBHOOK: lambda: world["webhook"].pk,
        ITEM: lambda: world["campaign"].items.first().pk,
    }
    arguments = [known[argument]() if argument in known else argument for argument in PAGES[name][0]]
    return reverse(name, args=arguments)


def test_every_route_is_in_the_table():
    assert {name for name, _ in routes()} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_get_as_everybody(name: str, world: dict, sign_in):
    url = url_of(name, world)
    assert tuple(sign_in(role).get(url).status_code for role in ROLES) == PAGES[name][1]


POSTS_ONLY = {name for name, (_, statuses) in PAGES.items() if statuses == POST_ONLY}

# state-changing requests with nothing useful in them: name -> (data, answer to each role)
POSTS = {
    "language": ({"language": "xx"}, (404, 404, 404, 404, 404)),
    "people": ({"act": "invite"}, (302, 403, 403, 403, 200)),
    "notices": ({}, (302, 403, 403, 403, 302)),
    "webhooks": ({}, (302, 403, 403, 403, 422)),
    "webhook": ({"act": "change"}, (302, 403, 403, 403, 422)),
    "person": ({"act": "link"}, (302, 403, 403, 403, 200)),
    "person-erase": ({}, (302, 403, 403, 403, 422)),
    "campaign-people": ({"act": "person"}, (302, 403, 403, 403, 200)),
    "invitation": ({}, (404, 404, 404, 404, 404)),
    "campaign-training": ({}, (302, 302, 302, 403, 403)),
    "consent": ({}, (302, 302, 302, 403, 403)),
    "account": ({"email": "nonsense"}, (302, 422, 422, 422, 422)),
    "account-password": ({}, (302, 422, 422, 422, 422)),
    "account-time-zone": ({"time_zone": "Europe/Nowhere"}, (302, 404, 404, 404, 404)),
    "admin-password": ({}, (302, 302, 302, 302, 302)),
    "account-erase": ({}, (302, 422, 422, 422, 422)),
    "account-tokens": ({}, EVERYBODY),
    "password-forgotten": ({}, PUBLIC),
    "systems": ({}, (302, 403, 403, 403, 200)),
    "pool-growth": ({}, (302, 403, 403, 403, 200)),
    "pool-freeze": ({}, (302, 403, 403, 403, 200)),
    "pool-score": ({}, (302, 403, 403, 403, 302)),
    "system-new": ({}, (302, 403, 403, 403, 200)),
    "system-clone": ({}, (302, 403, 403, 403, 200)),
    "system-retrain": ({}, (302, 403, 403, 403, 200)),
    "system-archive": ({}, (302, 403, 403, 403, 302)),
    "system-restore": ({}, (302, 403, 403, 403, 302)),
    "graph-import": ({}, (302, 403, 403, 403, 422)),
    "graph-import-confirm": ({}, (302, 403, 403, 403, 404)),
    "runs": ({}, (302, 403, 403, 200, 200)),
    "pool-new": ({"graph": "town"}, (302, 403, 403, 403, 200)),
    "pool-import": ({}, (302, 403, 403, 403, 422)),
    "pool-filter": ({"filters": "types"}, (302, 403, 403, 403, 200)),  # it has a campaign: refused at the page
    "pool-questions": ({"relation": "0"}, (302, 403, 403, 403, 200)),
    "pool-questions-import": ({}, (302, 403, 403, 403, 200)),
    "campaign-sources": ({"act": "add"}, (302, 403, 403, 403, 200)),
    "campaign-source": ({"act": "change"}, (302, 403, 403, 403, 200)),
    "campaign-guidelines": ({}, (302, 403, 403, 403, 200)),
    "campaign": ({"act": "state", "state": "closed"}, (302, 403, 403, 403, 200)),
    "campaign-rules": ({}, (302, 403, 403, 403, 200)),
    "campaign-order": ({"act": "order"}, (302, 403, 403, 403, 422)),
    "inbox": ({}, (302, 403, 403, 403, 404)),
    "campaign-triples-bulk": ({}, (302, 403, 403, 403, 404)),
    "campaign-triple": ({"act": "return"}, (302, 403, 403, 403, 200)),
    "checks": ({"act": "draw"}, (302, 403, 403, 403, 200)),
    "withdraw": ({"reason": "wrong"}, (302, 403, 403, 403, 200)),
    "reusability-extend": ({}, (302, 403, 403, 403, 302)),
    "max-k-score": ({}, (302, 403, 403, 403, 302)),
    "classification-score": ({}, (302, 403, 403, 403, 302)),
    "open-world-studies": ({}, (302, 403, 403, 403, 200)),
    "open-world-study-continue": ({}, (302, 403, 403, 403, 302)),
    "evaluation-labels": ({}, (302, 403, 403, 403, 200)),
    "test-set-import": ({}, (302, 403, 403, 403, 200)),
    "graph-archive": ({}, (302, 403, 403, 403, 302)),
    "pool-archive": ({}, (302, 403, 403, 403, 302)),
    "graph-delete": ({}, (302, 403, 403, 403, 200)),
    "system-delete": ({}, (302, 403, 403, 403, 200)),
    "pool-delete": ({}, (302, 403, 403, 403, 200)),
    "study-delete": ({}, (302, 403, 403, 403, 200)),
    "job-cancel": ({}, (302, 403, 403, 403, 302)),
    "job-retry": ({}, (302, 403, 403, 403, 302)),
    "logout": ({}, (302, 302, 302, 302, 302)),
    "analysis-compute": ({}, (302, 403, 403, 302, 302)),
    "export-start": ({}, (302, 403, 403, 404, 404)),
    "run-publish": ({}, (302, 403, 403, 302, 302)),  # refused at the page: it is nobody's run
    "run-replace": ({}, (302, 403, 403, 302, 302)),
    "run-delete": ({}, (302, 403, 403, 302, 302)),
}

# JSON without anything useful to every call of the API that changes something
API_POSTS = {
    "api-claim": (401, 200, 200, 403, 403),
    "api-claim-disputed": (401, 403, 200, 403, 403),
    **dict.fromkeys(("api-submit", "api-submit-decision", "api-return", "api-flag"), (401, 400, 400, 400, 400)),
    **dict.fromkeys(("api-renew", "api-release"), (401, 400, 400, 400, 400)),
    "api-change": (401, 404, 404, 404, 404),
    "api-evaluation": (401, 403, 403, 400, 400),
    "api-pool-exports": (401, 403, 403, 400, 400),
    "api-pool-qrels": (401, 403, 403, 403, 400),
    "api-uploads": (401, 403, 403, 400, 400),
    "api-upload-finish": (401, 403, 403, 404, 404),
    "api-graph-runs": (401, 403, 403, 415, 415),
    "api-run-publish": (401, 403, 403, 403, 403),
    "api-run-replace": (401, 403, 403, 403, 403),
    "api-graph-uploads": (401, 403, 403, 403, 415),
    "api-graph-upload-preview": (401, 403, 403, 403, 404),
    "api-graph-upload-import": (401, 403, 403, 403, 404),
    "api-imported-qrels": (401, 403, 403, 403, 415),
    "api-test-sets": (401, 403, 403, 403, 415),
    "api-qrels-terms": (401, 403, 403, 403, 404),
    "api-job-cancel": (401, 403, 403, 403, 200),
    "api-job-retry": (401, 403, 403, 403, 409),
}


@pytest.mark.parametrize("name", API_POSTS)
def test_api_post_as_everybody(name: str, world: dict, sign_in):
    url = url_of(name, world)
    told = tuple(sign_in(role).post(url, {}, content_type="application/json").status_code for role in ROLES)
    assert told == API_POSTS[name]


def test_every_page_that_only_takes_posts_is_in_the_table():
    assert {name for name in PAGES if not name.startswith("api-") and PAGES[name][1][-1] == 405} <= set(POSTS)


def test_every_other_call_of_the_api_changes_nothing(world: dict, sign_in):
    """405 for a manager, who may do most; a route of nothing is a 404."""
    others = [name for name in PAGES if name.startswith("api-") and name not in API_POSTS]
    manager = sign_in("manager")
    told = {name: manager.post(url_of(name, world), {}, content_type="application/json").status_code for name in others}
    assert told == dict.fromkeys(others, 405) | {"api-nothing": 404}


def test_who_may_not_read_a_page_cannot_post_to_it(world: dict, sign_in):
    let_in = []
    for role in ROLES:
        client = sign_in(role)
        for name, (_, statuses) in PAGES.items():
            if statuses[ROLES.index(role)] in (401, 403):
                status = client.post(url_of(name, world), {}).status_code
                let_in += [(role, name, status)] if status not in (401, 403, 405) else []
    assert let_in == []


@pytest.mark.parametrize("name", POSTS)
def test_post_as_everybody(name: str, world: dict, sign_in):
    data, expected = POSTS[name]
    url = url_of(name, world)
    assert tuple(sign_in(role).post(url, data).status_code for role in ROLES) == expected


def test_a_stranger_is_sent_to_sign_in_and_comes_back_to_the_page(world: dict, client):
    sent = {name for name in PAGES if PAGES[name][1][0] == 302}
    for name in sent:
        url = url_of(name, world)
        assert client.get(url)["Location"] in (f"/login?next={url}", "/login")


def test_person_without_any_role_sees_home_and_nothing_else(world: dict, client, django_user_model):
    client.force_login(django_user_model.objects.create_user("nobody"))
    assert client.get("/").status_code == 200
    assert b"You are in no campaign yet" in client.get("/").content
    assert client.get("/pools").status_code == 403


@pytest.mark.parametrize(
    "url",
    [
        "/graphs/none",
        "/graphs/town/systems/none",
        "/graphs/town/train/nothing",
        "/pools/none",
        "/pools/none/triples",
        "/jobs/999999",
    ],
)
def test_what_does_not_exist_is_404(url: str, sign_in):
    assert sign_in("manager").get(url).status_code == 404


def test_a_member_of_another_campaign_sees_nothing_of_this_one(world: dict, client, tmp_path):
    """Every route as an annotator and adjudicator of another campaign: its pages are 404, not 403."""
    elsewhere = open_campaign(make_pool(make_graph(tmp_path / "elsewhere", "elsewhere"), "elsewhere-pool"))
    outsider = make_person("outsider", campaign=elsewhere, role="annotator")
    elsewhere.members.create(person=outsider, role="adjudicator", consented_at=timezone.now())
    client.force_login(outsider, backend="config.sign_in.Accounts")
    wrong = {}
    for name, (_, statuses) in PAGES.items():
        url = url_of(name, world)
        hidden = (
            url.startswith(("/campaigns/town-pool", "/api/v1/campaigns/town-pool")) and name not in POSTS_ONLY
        ) and name != "api-items"  # refused by role, whatever the campaign
        expected = 404 if hidden else statuses[ROLES.index("annotator")]
        status = client.get(url).status_code
        if status != expected:
            wrong[name] = (status, expected)
    assert wrong == {}
    assert client.get("/campaigns/elsewhere-pool/annotate").status_code == 200
    for url in ("/api/v1/campaigns/town-pool/claim", "/api/v1/campaigns/town-pool/claim-disputed"):
        assert client.post(url, {}, content_type="application/json").status_code == 404

"""The analysis pages: each with its sections, its JSON and CSV; bad settings and undefined values in words."""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone

from annotation.models import Batch, Campaign, Item
from annotation.release.audit_sample import draw_audit
from annotation.release.next_batch import release_next
from core.files.file_names import file_stem
from core.jobs.execution import execute
from core.models import Job, Worker
from evaluation.enums import EvaluationJob
from evaluation.labels import pool_table
from evaluation.labels.label_sets import label_set
from evaluation.labels.qrels import freeze_qrels
from evaluation.models import Figure
from evaluation.overview.rankings import page_version
from evaluation.pages.registry import ANALYSES, get_analysis
from evaluation.sections.csv_text import csv_text
from evaluation.sections.figure_cache import BUSY, FORM, REST, part_figure, part_job
from evaluation.sections.settings import Settings, parse_settings
from evaluation.sections.wording import basis
from pooling.models import Pool
from tests.factories import judge
from tests.page import Element, charts, drawn, element, elements, fields, has, links, notices, parse, refusal

pytestmark = pytest.mark.usefixtures("few_repeats")
KEYS = [analysis.key for analysis in ANALYSES]
HEAVY = [(a.key, part.key) for a in ANALYSES for part in a.parts if part.heavy]
PAGE = "/pools/p/evaluation/{}".format


def refuse(pool: Pool, query: str) -> None:
    """Read the settings and their label set as the domain does; it refuses one of them."""
    settings = parse_settings(QueryDict(query), ("labels", "measures", "questions"))
    label_set(pool, pool_table.pool_table(pool), settings.labels)


def versions(page: Element) -> list[str]:
    """Return the version that the page asks the server for again."""
    return [one["data-version"] for one in page.walk() if "data-version" in one]


def compute(pool: Pool, key: str) -> None:
    for part in get_analysis(key).parts:
        part_figure(pool, get_analysis(key), part, Settings())


@pytest.mark.parametrize("key", KEYS)
def test_every_page_shows_its_sections_with_table_and_caption(sign_in, labelled: Pool, key):
    compute(labelled, key)
    answer = sign_in("researcher").get(PAGE(key))
    page = parse(answer)
    sections = [
        section
        for part in get_analysis(key).parts
        for section in part_figure(labelled, get_analysis(key), part, Settings()).content["sections"]
    ]
    assert sections and versions(page) == [page_version(labelled)]
    for section in sections:
        shown = page.one(tag="section", id=section["key"])
        assert page.one(tag="h2", id=f"{section['key']}-title").text == " ".join(section["title"].split())
        assert all(" ".join(section[words].split()) in shown.text for words in ("caption", "text"))
        assert section["tables"] or section["chart"] is None, "a chart has its table"
        first = section["finding"].removeprefix("nDCG")[:1]
        assert first == first.upper()
        for table in section["tables"]:
            labels = [column["label"] for column in table["columns"]]
            assert len({*labels}) == len(labels), f"columns of one name in {table['key']}"
    shown = charts(answer)
    assert list(shown) == [section["key"] for section in sections if section["chart"]]
    assert all(chart["role"] == "img" and chart.has(tag="svg") for chart in shown.values())
    assert not [one for one in page.walk() if "style" in one], "our policy refuses style attributes"
    assert len({section["key"] for section in sections}) == len(sections)


@pytest.mark.parametrize("key", KEYS)
def test_json_has_what_the_page_shows(sign_in, labelled: Pool, key):
    compute(labelled, key)
    answer = sign_in("researcher").get(f"{PAGE(key)}.json")
    found = answer.json()
    assert (found["pool"], found["analysis"]) == ("p", key)
    assert [part["computed"] for part in found["parts"]] == [True] * len(get_analysis(key).parts)
    assert "NaN" not in answer.content.decode()


def test_csv_of_a_chart_is_beside_its_svg_and_png(sign_in, labelled: Pool):
    page = sign_in("researcher").get(PAGE("measures"))
    cards = [card for card in parse(page).all(tag="figure") if card.has(class_="downloads")]
    assert cards
    for card in cards:
        (place,) = card.all(class_="downloads")
        assert [one["data-format"] for one in place.all(tag="button")] == ["svg", "png"]
        assert all(link["href"].startswith(PAGE("measures")) for link in place.all("chart-csv"))
        assert place.has("chart-csv")


@pytest.mark.parametrize("key", KEYS)
def test_csv_of_every_table_has_its_rows(sign_in, labelled: Pool, key):
    compute(labelled, key)
    client = sign_in("researcher")
    tables = [
        t for part in client.get(f"{PAGE(key)}.json").json()["parts"] for s in part["sections"] for t in s["tables"]
    ]
    assert tables and len({t["key"] for t in tables}) == len(tables)
    for shown in tables:
        answer = client.get(f"{PAGE(key)}/{shown['key']}.csv")
        assert answer["Content-Disposition"] == f'attachment; filename="{file_stem("p", key, shown["key"])}.csv"'
        rows = list(csv.reader(io.StringIO(answer.content.decode())))
        assert len(rows) == 1 + len(shown["rows"])
        assert {len(row) for row in rows} == {len(rows[0])}
    assert client.get(f"{PAGE(key)}/no-such.csv").status_code == 404


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("case", ["one system", "no positive", "ties"])
def test_degenerate_pools_give_pages_without_a_wrong_number(sign_in, labelled: Pool, key, case, monkeypatch):
    if case == "one system":
        for system in list(labelled.systems.all())[1:]:
            system.run.delete()
    elif case == "no positive":
        labelled.seeds.all().delete()
        labelled.judgements.all().delete()
    else:
        built = pool_table._build(labelled)
        for ranks in (built.ranks.strict, built.ranks.optimistic, built.ranks.pessimistic):
            ranks[:] = ranks[0]
        monkeypatch.setattr(pool_table, "_build", lambda pool: built)
    pool_table._tables.clear()
    client = sign_in("researcher")
    compute(labelled, key)
    for url in (PAGE(key), f"{PAGE(key)}.json", f"{PAGE(key)}?questions=original&assumed=unjudged"):
        answer = client.get(url)
        assert answer.status_code == 200
        assert not re.search(r"\b(nan|NaN|inf|Infinity)\b", answer.content.decode())


def test_one_system_has_no_correlation_anywhere(sign_in, labelled: Pool):
    for system in list(labelled.systems.all())[1:]:
        system.run.delete()
    found = sign_in("researcher").get(f"{PAGE('stability')}.json").json()
    cells = [cell for row in found["parts"][0]["sections"][0]["tables"][0]["rows"] for cell in row[2:]]
    assert cells and all(cell["value"] is None and cell["reason"] for cell in cells)


@pytest.mark.parametrize(
    "query", ["labels=nonsense", "labels=qrels:none", "measures=nope", "questions=all", "labels=until:yesterday"]
)
def test_settings_that_cannot_be_are_refused_in_words(sign_in, labelled: Pool, query):
    client = sign_in("researcher")
    [told] = refusal(lambda: refuse(labelled, query))
    page = client.get(f"{PAGE('stability')}?{query}")
    assert page.status_code == 400 and element(page, "problem").text == told
    assert element(page, "usual")["href"] == PAGE("stability")
    answer = client.get(f"{PAGE('stability')}.json?{query}")
    assert answer.status_code == 400 and answer.json()["error"] == told
    answer = client.get(f"{PAGE('stability')}/stability-questions.csv?{query}")
    assert answer.status_code == 400 and answer.content.decode() == told
    posted = client.post(f"{PAGE('stability')}/labels/compute", {"settings": query}, follow=True)
    assert told in [*notices(posted), *(one.text for one in elements(posted, "problem"))]
    assert not Job.objects.filter(kind=EvaluationJob.EVALUATE).exists()


def test_a_table_too_long_for_a_page_is_a_link_with_its_rows(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = client.get(f"{PAGE('probe')}?labels=seeds")
    link = element(page, "long-grid-all")
    assert (link["data-rows"], [a["href"] for a in link.all(tag="a")]) == (
        "1681",
        ["/pools/p/evaluation/probe/grid-all.csv?labels=seeds"],
    )
    assert len(parse(page).all(tag="tr")) < 400
    rows = list(csv.reader(io.StringIO(client.get(f"{PAGE('probe')}/grid-all.csv?labels=seeds").content.decode())))
    assert rows[0][:3] == ["sharpness", "robustness", "best"] and len(rows) == 1682


def test_the_form_of_probe_has_its_point_and_the_page_its_help(sign_in, labelled: Pool):
    page = sign_in("researcher").get(f"{PAGE('probe')}?sharpness=0.3&robustness=0.75")
    assert (fields(page)["sharpness"], fields(page)["robustness"]) == ("0.3", "0.75")
    assert "/help/lenses#probe" in links(page)


def test_planning_leads_managers_to_the_order(sign_in, labelled: Pool):
    link = "/pools/p/campaign/order"
    clients = {role: sign_in(role) for role in ("manager", "researcher")}
    pages = [(role, key) for role in clients for key in ("planning", "relations")]
    shown = {(role, key): link in links(clients[role].get(PAGE(key))) for role, key in pages}
    assert [page for page in pages if shown[page]] == [("manager", "planning")]


def test_an_analysis_or_part_that_is_not_there(sign_in):
    client = sign_in("manager")
    assert client.get(PAGE("no-such")).status_code == 404
    assert client.get("/pools/none/evaluation/stability").status_code == 404
    assert client.post(f"{PAGE('stability')}/questions/compute").status_code == 404  # quick: nothing to start


def judged_at_random(campaign: Campaign) -> None:
    Item.objects.all().delete()
    Batch.objects.all().delete()
    campaign.order, campaign.batch_size, campaign.whole_questions = "random", 10_000, False
    campaign.save()
    release_next(campaign)


WHAT_IT_NEEDS = {"estimates": judged_at_random, "audit": lambda campaign: draw_audit(campaign, 1.0)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("key", "part"), HEAVY)
def test_a_heavy_part_is_a_job_and_kept(sign_in, labelled: Pool, key, part):
    client, analysis = sign_in("researcher"), get_analysis(key)
    taken = "seed" if "seed" in analysis.settings else "k"
    assert bool(analysis.part(part).needs) == (key in WHAT_IT_NEEDS)
    if analysis.part(part).needs:
        assert not has(client.get(PAGE(key)), "compute")
        WHAT_IT_NEEDS[key](Campaign.objects.get())
    assert has(client.get(PAGE(key)), "compute")
    for _ in range(2):
        assert (
            client.post(f"{PAGE(key)}/{part}/compute", {"settings": f"{taken}=3"})["Location"]
            == f"{PAGE(key)}?{taken}=3"
        )
    job = Job.objects.get(kind=EvaluationJob.EVALUATE)
    assert part_job(labelled, analysis, analysis.part(part), Settings(**{taken: 3})) == job
    page = parse(client.get(f"{PAGE(key)}?{taken}=3"))
    assert "0 %" in page.one("computing").text
    for done, told_left in ((4, False), (5, True)):  # below 5 % nobody knows how long it takes
        Job.objects.update(done=done, total=100, seconds_left=7)
        now = parse(client.get(f"{PAGE(key)}?{taken}=3"))
        assert ("7 s left" in now.one("computing").text) is told_left
    Job.objects.update(done=0, total=0, seconds_left=None)
    # it is told at the place of the chart, below a heading of its own
    told = [one for one in page.walk() if one.attrs.get("data-test") in ("missing", "computing")]
    at = [one.attrs["data-test"] for one in told].index("computing")
    assert told[at - 1].text == analysis.part(part).title[0].upper() + analysis.part(part).title[1:]
    assert page.one(id=f"age-{part}").one(tag="progress")["value"] == "0"
    assert not has(client.get(PAGE(key)), "computing")
    before = page_version(labelled)
    execute(job.pk, "w")
    job.refresh_from_db()
    assert (job.state, job.error) == ("done", "")
    assert page_version(labelled) != before  # open pages fetch it
    page = client.get(f"{PAGE(key)}?{taken}=3")
    assert has(page, "computed") and not has(page, "computed-before")


@pytest.mark.django_db(transaction=True)
def test_the_hsd_of_frozen_qrels_is_computed_without_being_asked_for(sign_in, labelled: Pool):
    client, page = sign_in("researcher"), PAGE("discriminative")
    freeze_qrels(labelled, "v1")
    assert has(client.get(f"{page}?labels=qrels:v1"), "compute")  # nobody is there to do it
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    client.get(page)
    assert not Job.objects.filter(kind=EvaluationJob.EVALUATE).exists()
    for _ in range(2):
        assert has(client.get(f"{page}?labels=qrels:v1"), "computing")
    job = Job.objects.get(kind=EvaluationJob.EVALUATE)
    assert job.params["part"] == "hsd"
    execute(job.pk, "w")
    assert has(client.get(f"{page}?labels=qrels:v1"), "computed")
    assert Job.objects.filter(kind=EvaluationJob.EVALUATE).count() == 1


def test_a_long_page_lists_its_sections_and_a_short_one_does_not(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = parse(client.get(PAGE("correlation")))
    listed = [one["href"] for one in page.one(class_="contents").all(tag="a")]
    sections = [one["id"] for one in page.one(id="figures").all(tag="section", class_="section") if "id" in one]
    assert listed == [f"#{key}" for key in sections] and len(listed) > 5
    assert not parse(client.get(PAGE("stability"))).has(class_="contents")


@pytest.mark.django_db(transaction=True)
def test_who_may_start_a_part_may_cancel_it_and_it_stays_cancelled(sign_in, labelled: Pool):
    client, jobs = sign_in("researcher"), Job.objects.filter(kind=EvaluationJob.EVALUATE)
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    compute(labelled, "stability")
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    before = page_version(labelled)
    client.post(f"{PAGE('stability')}/labels/compute")
    assert page_version(labelled) != before  # open pages learn that it began
    client.post(f"{PAGE('stability')}/labels/compute", {"cancel": "yes"})
    client.post(f"{PAGE('stability')}/labels/compute", {"cancel": "yes"})  # again: nothing is live, nothing begins
    html = client.get(PAGE("stability")).content.decode()
    assert [job.state for job in jobs] == ["cancelled"]
    assert has(html, "ended-cancelled") and has(html, "compute")
    assert f"/jobs/{jobs.get().pk}" not in html  # a manager's page
    jobs.update(state="failed", error="no space left")
    assert element(client.get(PAGE("stability")), "ended-failed").text.endswith(": no space left.")
    assert jobs.count() == 1
    jobs.update(state="done", error="", finished_at=timezone.now())
    client.get(PAGE("stability"))
    assert jobs.count() == 1  # not at every label
    jobs.update(finished_at=timezone.now() - REST)
    client.get(PAGE("stability"))
    assert jobs.count() == 2


def test_while_somebody_computes_the_kept_figure_is_shown_and_asked_for_again(sign_in, labelled: Pool, monkeypatch):
    monkeypatch.setattr("evaluation.sections.figure_cache.WAIT", 0.0)
    client = sign_in("researcher")
    client.get(PAGE("stability"))
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    busy = {"claimed_until": timezone.now() + timedelta(minutes=1)}
    Figure.objects.update(**busy)
    page = parse(client.get(PAGE("stability")))
    assert versions(page) == [f"{page_version(labelled)} waiting"]
    told = page.one(id="age-questions").one("computed-before").text
    assert basis(Figure.objects.get(key__startswith="stability/questions").version) in told
    Figure.objects.update(version="", **busy)
    answer = client.get(PAGE("stability"))
    assert answer.status_code == 503 and element(answer, "problem").text == BUSY


def test_estimates_without_a_sample_lead_managers_to_the_order_of_judging(sign_in, pool: Pool):
    manager, researcher = sign_in("manager"), sign_in("researcher")
    for key in ("estimates", "audit"):
        link = element(manager.get(PAGE(key)), "section-link").one(tag="a")
        assert link["href"] == "/pools/p/campaign/order" and manager.get(link["href"]).status_code == 200
        assert not has(researcher.get(PAGE(key)), "section-link")


def test_a_page_of_frozen_qrels_never_says_that_newer_figures_are_being_computed(sign_in, labelled: Pool):
    freeze_qrels(labelled, "v1")
    client = sign_in("researcher")

    def said(query: str) -> str:
        """Return what the script says that the figures are of, while it waits for newer ones; "": it says nothing."""
        (told,) = [
            one["data-basis"] for one in parse(client.get(PAGE("measures") + query)).walk() if "data-basis" in one
        ]
        return told

    assert said("") == said("?labels=qrels:v1&against=current") == basis(page_version(labelled)) != ""
    assert said("?labels=qrels:v1") == said("?labels=qrels:v1&against=full-test") == ""


def test_the_form_says_which_label_set_is_the_default(sign_in, labelled: Pool):
    answer = sign_in("researcher").get(PAGE("measures"))
    page = parse(answer)
    for name, default in (("labels", "current"), ("against", "seeds")):
        chosen = page.one(tag="select", name=name)
        groups = {
            one["label"]: [option["value"] for option in one.all(tag="option")] for one in chosen.all(tag="optgroup")
        }
        assert groups["Whole label sets"] == ["seeds", "current", "full-test"]
        assert fields(answer)[name] == default
        assert page.one(id=chosen["aria-describedby"]).text.startswith(f"Default: {default}")


def test_the_form_says_what_the_address_asks_for(sign_in, labelled: Pool):
    client = sign_in("researcher")
    assert fields(client.get(f"{PAGE('stability')}?labels=depth:99"))["labels"] == "depth:99"
    asked = fields(client.get(f"{PAGE('stability')}?labels=until:2026-03-02T14:00:30%2B02:00"))
    assert (asked["labels"], asked["labels_until"]) == ("until", "2026-03-02T12:00:30")


def test_an_old_heavy_part_is_computed_anew_where_a_worker_lives(sign_in, labelled: Pool):
    client, jobs = sign_in("researcher"), Job.objects.filter(kind=EvaluationJob.EVALUATE)
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    client.get(PAGE("stability"))
    assert not jobs.exists()  # nobody asked for it yet
    compute(labelled, "stability")
    judge(labelled.triples.filter(judgement=None)[0], "positive")
    page = client.get(PAGE("stability"))
    client.get(PAGE("stability"))
    assert [job.params["part"] for job in jobs] == ["labels"]  # a label changes nothing of full test
    assert has(page, "computed-before")
    # old figures are told above their first section, current ones below
    order = [one.attrs.get("id", "") for one in parse(page).one(id="figures").walk()]
    assert order.index("questions") < order.index("age-labels") < order.index("labels")
    compute(labelled, "stability")
    order = [one.attrs.get("id", "") for one in parse(client.get(PAGE("stability"))).one(id="figures").walk()]
    assert order.index("labels") < order.index("age-labels")


def test_old_figures_say_what_changed_runs_alone_for_the_full_test_set(sign_in, labelled: Pool):
    client = sign_in("researcher")
    Worker.objects.create(name="w", queues="cpu", seen_at=timezone.now())
    compute(labelled, "stability")
    Figure.objects.update(version=f"{FORM}/old")

    def said() -> list[str]:
        page = parse(client.get(PAGE("stability")))
        return [page.one(id=f"age-{part}").one("computed-before").text for part in ("labels", "full-test")]

    told = said()
    assert [("Labels or runs have changed" in one, "Full test: computed" in one) for one in told] == [
        (True, False), (False, True),
    ]  # fmt: skip
    Figure.objects.update(version=f"{FORM - 1}/old")  # whatever labels and runs did: figures of an earlier TriplePool
    told = said()
    assert all("TriplePool was updated since" in one and "have changed" not in one for one in told)


def test_the_full_test_set_is_the_same_whatever_labels_are_chosen(labelled: Pool):
    for key in ("stability", "discriminative"):
        analysis = get_analysis(key)
        part = analysis.part("full-test")
        kept = part_figure(labelled, analysis, part, Settings())
        assert part_figure(labelled, analysis, part, Settings(labels="seeds")).pk == kept.pk
        judge(labelled.triples.filter(judgement=None)[0], "positive")
        assert part_figure(labelled, analysis, part, Settings()).computed_at == kept.computed_at
        sections = kept.content["sections"]
        assert len(sections) >= 2 and all("full test (" in section["caption"] for section in sections)
        assert all(section["key"].endswith("-full-test") for section in sections)


def test_the_part_is_the_sections_alone(sign_in, labelled: Pool):
    client = sign_in("manager")
    page = client.get(f"{PAGE('stability')}?seed=3").content.decode()
    part_url = re.search(r'data-figures-url="([^"]+)"', page)[1].replace("&amp;", "&")
    part = client.get(part_url).content.decode()
    assert "<html" in page and "<html" not in part
    tokens = r'name="csrfmiddlewaretoken" value="[^"]+"'
    assert re.sub(tokens, "", part).strip() in re.sub(tokens, "", page)


def test_a_second_look_computes_nothing(sign_in, labelled: Pool, monkeypatch):
    client = sign_in("researcher")
    client.get(PAGE("stability"))
    figures = dict(Figure.objects.values_list("key", "computed_at"))
    monkeypatch.setattr("evaluation.sections.figure_cache._compute", lambda *args: pytest.fail("it was computed again"))
    assert client.get(PAGE("stability")).status_code == 200
    assert dict(Figure.objects.values_list("key", "computed_at")) == figures


def test_a_page_that_is_opened_again_draws_nothing_and_shows_the_same(sign_in, labelled: Pool, monkeypatch):
    client = sign_in("researcher")
    client.get(PAGE("stability"))
    shown = charts(client.get(PAGE("stability")))  # of kept figures, as from now on
    monkeypatch.setattr("pooling.templatetags.charts.chart_html", lambda *args: pytest.fail("it was drawn again"))
    again = charts(client.get(PAGE("stability")))
    assert shown.keys() == again.keys() and shown
    assert [drawn(one) for one in again.values()] == [drawn(one) for one in shown.values()]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("", "p-measures-{}.csv"),
        ("seed=9&k=3", "p-measures-{}.csv"),  # the page takes neither
        (
            "labels=depth:2&measures=bpref,map@20&questions=original",
            "p-measures-{}-labels-depth-2-measures-bpref-map-20-questions-original.csv",
        ),
        (
            "measures=condensed_micro_hits@10,condensed_macro_hits@10,condensed_micro_mrr,condensed_macro_mrr",
            "p-measures-{}-measures-condensed_micro_hits-10-condensed_macro_hits-10-condensed_micro_mrr-con.csv",
        ),
    ],
)
def test_csv_is_named_after_the_settings_that_are_not_usual(sign_in, labelled: Pool, query, name):
    client = sign_in("researcher")
    found = client.get(f"{PAGE('measures')}.json?{query}").json()["parts"]
    key = found[0]["sections"][0]["tables"][0]["key"]
    answer = client.get(f"{PAGE('measures')}/{key}.csv?{query}")
    assert answer["Content-Disposition"] == f'attachment; filename="{name.format(key)}"'


def test_csv_of_sides_has_systems_only_and_n_is_in_the_json(sign_in, labelled: Pool):
    client = sign_in("researcher")
    found = client.get(f"{PAGE('measures')}.json").json()
    sides = next(t for p in found["parts"] for s in p["sections"] for t in s["tables"] if t["key"] == "sides")
    assert sides["foot"][0] == "n" and all(n > 0 for n in sides["foot"][1:])
    rows = list(csv.reader(io.StringIO(client.get(f"{PAGE('measures')}/sides.csv").content.decode())))
    assert rows[0][0] == "system" and sorted(row[0] for row in rows[1:]) == ["complex", "distmult", "transe"]


def test_the_overview_comes_as_files_too(sign_in, labelled: Pool):
    client = sign_in("researcher")
    page = client.get("/pools/p/evaluation?measure=map@20").content.decode()
    links = [link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+\.(?:csv|json)[^"]*)"', page)]
    assert len(links) == 6  # the places twice: beside the chart, and with the other tables
    for link in links:
        answer = client.get(link)
        assert answer.status_code == 200, link
        assert all(system in answer.content.decode() for system in ("transe", "distmult")) or "taus" in link
    assert "Two rankings by MAP@20" in client.get(links[-1]).content.decode()
    assert client.get(PAGE("overview")).status_code == 404  # its page has an address of its own


def test_csv_writes_intervals_reasons_and_no_formula():
    columns = [{"key": "system", "label": "System", "kind": "system"}, {"key": "tau", "label": "Tau", "kind": "value"}]
    rows = [
        ["=cmd()", {"value": 0.25, "low": 0.1, "high": 0.5}],
        ["transe-s1", {"value": None, "reason": "one system"}],
    ]
    text = csv_text({"columns": columns, "rows": rows, "foot": ["n", 12]})
    assert list(csv.reader(io.StringIO(text))) == [
        ["system", "tau", "tau_low", "tau_high", "system_name", "undefined"],
        ["'=cmd()", "0.25", "0.1", "0.5", "'=cmd()", ""],
        ["transe-s1", "", "", "", "TransE (seed 1)", "Tau: one system"],
    ]

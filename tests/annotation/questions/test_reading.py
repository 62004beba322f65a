"""Which automatic questions a person has read, and names that are not words."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.lifecycle import open_campaign
from annotation.enums import AnnotationAct
from annotation.errors import CampaignError
from annotation.models import Campaign, QuestionTemplate
from annotation.people.accounts import add_person
from annotation.questions.reading import mark_read, named, unread_relations, without_words, write_address
from annotation.questions.templates import read_templates, save_changes, save_template
from annotation.release.audit_sample import draw_audit
from core.models import AuditEntry
from pooling.graphs.imports import import_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph, Pool, PooledTriple, Relation
from pooling.questions.templates import TemplateError
from tests.annotation.factories import make_pool, more_relations
from tests.page import read

WRITTEN = ("Is {subject} in {object}?", "Where is {subject}?", "What is in {object}?")


@pytest.fixture
def of_ids(graph: Graph, tmp_path: Path) -> Graph:
    """The graph of the annotation tests with P131 as the name of its relation, and without templates."""
    folder = Path(shutil.copytree(tmp_path / "tsv", tmp_path / "ids"))
    (folder / "relation_templates.tsv").unlink()
    for split in ("train", "valid", "test"):
        file = folder / f"{split}.tsv"
        file.write_text(file.read_text().replace("lived_in", "P131"))
    return import_graph("ids", read_tsv(folder), options={})


def refusal(pool: Pool, **options: float) -> str:
    with pytest.raises(CampaignError) as caught:
        open_campaign(pool, **options)
    assert not Campaign.objects.filter(pool=pool).exists()
    return str(caught.value)


def test_a_campaign_opens_only_when_a_relation_without_words_has_questions(of_ids: Graph) -> None:
    pool = make_pool(of_ids, "ids")
    assert refusal(pool) == (
        "The questions of 1 relation must be written by a person first, because its name is not a word: P131. "
        "Write or import them on the page /pools/ids/questions?made=odd"
    )
    save_template(of_ids.relations.get(), *WRITTEN)
    assert open_campaign(pool).items.count() == 6


def test_a_file_of_questions_is_as_good_as_typing(of_ids: Graph) -> None:
    pool = make_pool(of_ids, "ids")
    save_changes(of_ids, read_templates(of_ids, "\t".join(("P131", *WRITTEN)).encode(), "words.tsv"))
    assert open_campaign(pool).items.count() == 6


def test_a_label_of_the_relation_gives_it_words(graph: Graph, tmp_path: Path, of_ids: Graph) -> None:
    (tmp_path / "ids" / "relation_labels.tsv").write_text("P131\tlocated in\n")
    labelled = import_graph("labelled", read_tsv(tmp_path / "ids"), options={})
    campaign = open_campaign(make_pool(labelled, "labelled"))
    template = QuestionTemplate.objects.get(relation__graph=labelled)
    assert (campaign.items.count(), template.statement) == (6, "Is {subject} located in {object}?")


def test_an_audit_sample_asks_about_the_relations_of_filtered_triples_too(world) -> None:
    Relation.objects.create(graph=world.pool.graph, index=1, key="P131")
    PooledTriple.objects.create(pool=world.pool, head=0, relation=1, tail=1, depth=1, reason="types")
    assert unread_relations(world.pool) == []
    with pytest.raises(CampaignError, match="P131"):
        draw_audit(world.campaign, 0.5)
    pool = make_pool(world.pool.graph, "p2")
    PooledTriple.objects.create(pool=pool, head=0, relation=1, tail=1, depth=1, reason="types")
    assert "P131" in refusal(pool, audit=0.5)


def test_the_page_of_a_campaign_that_cannot_open_leads_to_the_questions(of_ids: Graph, as_user) -> None:
    pool = make_pool(of_ids, "ids")
    client = as_user(add_person("boss", "manager")[0])
    page = read(client.get("/pools/ids/campaign"))
    assert "P131" in page.one("without-words").text
    assert page.one(class_="button-primary")["href"] == write_address(pool)
    client.post("/pools/ids/campaign", {"act": "open"})
    assert not Campaign.objects.filter(pool=pool).exists()
    save_template(of_ids.relations.get(), *WRITTEN)
    client.post("/pools/ids/campaign", {"act": "open"})
    assert Campaign.objects.filter(pool=pool).exists()


def test_reading_is_noted_with_person_and_time(world) -> None:
    more_relations(world, 3)
    Relation.objects.filter(index=3).update(key="P131")
    one, two, odd = unread_relations(world.pool)
    assert without_words([one, two, odd]) == [odd]
    assert mark_read(world.pool, world.manager, one) == 1
    template = QuestionTemplate.objects.get(relation=one)
    assert (template.read_by, template.read_at is not None, template.is_unread) == (world.manager, True, False)
    assert mark_read(world.pool, world.manager, one) == 0
    with pytest.raises(TemplateError, match="P131"):
        mark_read(world.pool, world.manager, odd)
    assert mark_read(world.pool, world.manager) == 1
    assert unread_relations(world.pool) == [odd]
    entries = AuditEntry.objects.filter(act=AnnotationAct.QUESTIONS_READ).order_by("id")
    assert [entry.about for entry in entries] == [one.key, f"1 relations of graph {world.pool.graph.name}"]


def test_the_triples_of_a_pool_are_read_once_whatever_number_of_relations(world) -> None:
    """Without DISTINCT, PostgreSQL looked through the whole pool for each relation of a graph that had just come."""
    with CaptureQueriesContext(connection) as found:
        unread_relations(world.pool)
    (query,) = (query["sql"] for query in found.captured_queries if "pooledtriple" in query["sql"])
    assert 'IN (SELECT DISTINCT U0."relation"' in query


def test_questions_that_came_with_the_graph_count_as_read(world) -> None:
    assert unread_relations(world.pool) == []


def test_many_names_are_cut(world) -> None:
    more_relations(world, 7)
    relations = list(Relation.objects.exclude(index=0).order_by("index"))
    assert named(relations[:2]) == "more 01, more 02"
    assert named(relations) == "more 01, more 02, more 03, more 04, more 05 and 2 more"

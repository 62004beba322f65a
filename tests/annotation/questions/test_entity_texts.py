"""What a graph says of its entities and relations reaches the people who label, as text, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.campaigns.lifecycle import open_campaign
from annotation.people.accounts import add_person
from annotation.questions.templates import ensure_templates
from pooling.graphs.imports import import_graph
from pooling.graphs.opening import open_graph
from pooling.graphs.tsv import read_tsv
from pooling.models import Graph
from tests.annotation.factories import PASSWORD, make_pool

LONG = "word " * 100
FILES = {
    "train.tsv": "".join(f"p{i}\tP551\tc{(i + step) % 10}\n" for i in range(12) for step in (0, 1))
    + "p1\t/book/author/works_written\tp9\np1\tseen_in\tc8\np1\tseen_in\tc3\n",
    "entity_types.tsv": "p1\t/people/person\np1\t/book/author\np1\t/x/person\nc7\tcity_town\n",
    "valid.tsv": "p0\tP551\tc5\n",
    "test.tsv": "p1\tP551\tc7\n",
    "entity_descriptions.tsv": f"c7\ta city <b>\np1\t{LONG}\n",
    "entity_aliases.tsv": "".join(f"c7\tname {i}\n" for i in range(7)),
    "entity_links.tsv": "c7\thttps://example.org/c7?a=1&b=2\n",
    "relation_labels.tsv": "P551\tresides in\n",
}


@pytest.fixture
def labelled(db, tmp_path: Path) -> Graph:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return import_graph("labelled", read_tsv(tmp_path), options={})


def test_first_questions_are_made_from_the_label_of_the_relation(labelled: Graph) -> None:
    ensure_templates(labelled)
    template = labelled.relations.get(key="P551").templates.get()
    assert template.statement == "Does {subject} reside in {object}?"
    assert template.is_default


def test_people_are_told_of_an_entity_what_its_graph_says(labelled: Graph, as_user) -> None:
    campaign = open_campaign(make_pool(labelled), seed=1)
    campaign.evidence_rule = "never"
    campaign.personal_data = ""
    campaign.save()
    person = add_person("ann", "annotator", campaign, PASSWORD)[0]
    campaign.members.update(consented_at=campaign.pool.created_at)
    sent = as_user(person).post("/api/v1/campaigns/p1/claim", {"count": 50}, content_type="application/json").json()
    told = {item[side]["key"]: item[side] for item in sent["items"] for side in ("subject", "object")}
    assert told["c7"] == {
        "key": "c7",
        "label": "c7",
        "types": ["city town"],
        "description": "a city <b>",
        "aliases": [f"name {i}" for i in range(5)],
        "link": "https://example.org/c7?a=1&b=2",
        "facts": [],
    }
    assert told["p1"]["types"] == ["person", "author"]
    about = {
        item["object"]["key"]: item["subject"]["facts"] for item in sent["items"] if item["subject"]["key"] == "p1"
    }
    wrote = {"head": "p1", "relation": "works written", "tail": "p9"}
    seen = [{"head": "p1", "relation": "seen in", "tail": city} for city in ("c8", "c3")]
    assert about["c0"] == [wrote, *seen]
    assert about["c3"] == [wrote, seen[0]]  # what is known of both is not told
    assert told["p1"]["description"] == ("word " * 60).strip() + " …"
    bare = next(key for key in told if key in ("c0", "c6", "p0"))
    nothing = {"types": [], "description": "", "aliases": [], "link": "", "facts": []}
    assert told[bare] == {"key": bare, "label": bare} | nothing
    assert open_graph(labelled).relation_name(0) == "resides in"

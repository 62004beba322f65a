import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Campaign, Label, QuestionTemplate
from tests.annotation.factories import make_pool


def run(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_open_campaign_twice_says_that_it_is_open(graph) -> None:
    make_pool(graph)
    assert run("open_campaign", "p1") == "p1: campaign open, 6 items in 2 questions\n"
    assert run("open_campaign", "p1") == "p1: the campaign is already open, with 6 items\n"
    assert Campaign.objects.count() == 1


def test_open_campaign_refuses_a_relation_without_words(graph) -> None:
    make_pool(graph)
    graph.relations.update(key="P131")
    QuestionTemplate.objects.create(relation=graph.relations.get(), is_default=True)
    with pytest.raises(CommandError, match=r"P131.*/pools/p1/questions"):
        run("open_campaign", "p1")
    assert not Campaign.objects.exists()


def test_open_campaign_refuses_no_time_and_rules_of_one_that_is_open(graph) -> None:
    make_pool(graph)
    with pytest.raises(CommandError, match=r"held for 1 to 1440 minutes\. You gave 0"):
        run("open_campaign", "p1", "--lease-minutes", "0")
    assert not Campaign.objects.exists()
    run("open_campaign", "p1", "--lease-minutes", "3", "--evidence-rule", "yes")
    with pytest.raises(CommandError, match="change them on the page of the campaign"):
        run("open_campaign", "p1", "--evidence-rule", "never")
    campaign = Campaign.objects.get()
    assert (campaign.lease_minutes, campaign.evidence_rule) == (3, "yes")


def test_import_labels_of_which_none_can_be_imported_fails(world, tmp_path) -> None:
    (tmp_path / "l.tsv").write_text("no\tsuch\ttriple\tY\n")
    with pytest.raises(CommandError, match=r"^l\.tsv has no label that could be imported\.$"):
        run("import_labels", "p1", str(tmp_path / "l.tsv"))


@pytest.mark.parametrize("command", [["open_campaign", "p2"], ["import_labels", "p2", "x.tsv"]])
def test_unknown_pool_lists_those_there_are(world, command) -> None:
    with pytest.raises(CommandError, match=r"no pool 'p2'.*p1"):
        run(*command)


@pytest.mark.parametrize(
    "command",
    [["add_person", "x", "--role", "annotator", "--campaign", "p2"], ["simulate_annotators", "p2", "--truth", "x"]],
)
def test_unknown_campaign_lists_those_there_are(world, command) -> None:
    with pytest.raises(CommandError, match=r"no campaign of a pool 'p2'. Campaigns: p1"):
        run(*command)


def test_add_person_prints_the_password_once(world) -> None:
    assert run("add_person", "dora", "--role", "annotator", "--campaign", "p1").startswith(
        "dora is annotator of p1; password: "
    )
    assert run("add_person", "dora", "--role", "annotator", "--campaign", "p1") == "dora is annotator of p1\n"
    with pytest.raises(CommandError, match="labels blind"):
        run("add_person", "dora", "--role", "manager")


def test_import_labels_prints_json(world, tmp_path) -> None:
    path = tmp_path / "l.tsv"
    path.write_text("p1\tlived_in\tc0\tY\np1\tlived_in\tc0\n")
    report = json.loads(run("import_labels", "p1", str(path), "--json"))
    assert report == {
        "read": 2,
        "imported": 1,
        "known": 0,
        "positive": 1,
        "negative": 0,
        "undecided": 0,
        "num_skipped": 1,
        "num_notes": 0,
        "skipped": [{"line": 2, "reason": "has no label"}],
        "notes": [],
    }


def test_simulate_stops_at_its_limit(world, tmp_path) -> None:
    path = tmp_path / "l.tsv"
    path.write_text("p1\tlived_in\tc0\tY\n")
    out = run("simulate_annotators", "p1", "--truth", str(path), "--limit", "4", "--error-rate", "0")
    assert out.startswith("p1: 4 labels and 0 adjudications in ")
    assert Label.objects.count() == 4


def test_simulate_names_the_lines_of_the_truth_that_it_skips(world, tmp_path, capsys) -> None:
    path = tmp_path / "l.tsv"
    path.write_text("p1\tlived_in\tc0\tY\np1 lived_in c1 Y\n")
    call_command("simulate_annotators", "p1", "--truth", str(path), "--limit", "2", "--error-rate", "0")
    assert "l.tsv:2: " in capsys.readouterr().err
    labels = Label.objects.count()
    path.write_text("Ada\tlived_in\tParis\tY\n")
    with pytest.raises(CommandError, match=r"^l\.tsv has no label .*; line 1: "):
        run("simulate_annotators", "p1", "--truth", str(path))
    assert Label.objects.count() == labels == 2


def test_closed_world_of_a_graph_that_has_none_is_refused(world) -> None:
    with pytest.raises(CommandError, match="has no closed world"):
        run("simulate_annotators", "p1", "--truth", "closed-world")


# -- order of judging ----------------------------------------------------------------------------------------


def test_campaign_is_opened_in_batches_and_released_from_the_shell(graph) -> None:
    pool = make_pool(graph)
    opened = run("open_campaign", "p1", "--order", "hedge", "--set", "beta=0.2", "--batch-size", "1", "--audit", "1")
    assert opened == "p1: campaign open, 4 items in 2 questions, 3 triples to come in batches\n"
    campaign = Campaign.objects.get()
    assert (campaign.order, campaign.order_settings, campaign.batch_size) == ("hedge", {"beta": 0.2}, 1)
    with pytest.raises(CommandError, match="Its order was left as it is: change it by set_order or draw_audit"):
        run("open_campaign", "p1", "--order", "depth")
    assert run("release_batch", "p1") == "p1: 3 triples released, 0 left\n"
    assert run("release_batch", "p1") == "p1: 0 triples released, 0 left\n"
    assert pool.triples.filter(reason="", item=None).count() == 0


def test_release_of_all_ends_the_batches(graph) -> None:
    make_pool(graph)
    run("open_campaign", "p1", "--batch-size", "1")
    assert run("release_batch", "p1", "--all") == "p1: 3 triples released, 0 left\n"
    assert Campaign.objects.get().batch_size == 0


def test_audit_sample_is_drawn_from_the_shell(world) -> None:
    said = run("draw_audit", "p1")
    assert said == (
        "p1: 1 filtered triples drawn, 1 in the sample. They come among 6 others that nobody has begun, unmarked.\n"
    )
    assert run("draw_audit", "p1", "--share", "1") == "p1: 0 filtered triples drawn, 1 in the sample\n"
    with pytest.raises(CommandError, match="not 7"):
        run("draw_audit", "p1", "--share", "7")


def test_order_and_stopping_rules_are_set_from_the_shell(world) -> None:
    def now() -> tuple:
        fields = "order", "order_settings", "batch_size", "budget", "target_tau", "target_measure"
        return Campaign.objects.values_list(*fields).get()

    said = run("set_order", "p1", "--order", "hedge", "--set", "beta=0.2", "--batch-size", "50", "--budget", "9")
    assert said == "p1: changed budget, order, order settings, batch size\n"
    assert now() == ("hedge", {"beta": 0.2}, 50, 9, None, "micro_mrr")
    run("set_order", "p1", "--target-tau", "0.9", "--target-measure", "map@20")
    assert now() == ("hedge", {"beta": 0.2}, 50, 9, 0.9, "map@20")
    run("set_order", "p1", "--target-tau", "0", "--budget", "-1", "--order", "depth")
    assert now() == ("depth", {}, 50, None, None, "map@20")
    assert run("set_order", "p1", "--batch-of", "single") == "p1: changed whole questions\n"
    assert run("set_order", "p1") == "p1: nothing was different\n"
    assert run("set_order", "p1", "--questions", "whole") == "p1: changed whole questions\n"
    with pytest.raises(CommandError, match="has no setting 'beta'"):
        run("set_order", "p1", "--budget", "5", "--set", "beta=0.2")
    assert now() == ("depth", {}, 50, None, None, "map@20")

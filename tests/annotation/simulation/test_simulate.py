import pytest

from annotation.campaigns.overview import overview
from annotation.enums import Answer
from annotation.models import Batch, Campaign, Item, Judgement, Label, Slot
from annotation.people.accounts import add_person
from annotation.people.simulated import NAME
from annotation.quality.annotators import annotators
from annotation.simulation.simulate import Simulation, simulate
from pooling.models import PooledTriple
from tests.annotation.factories import answer, claim


def truth_of(world) -> dict:
    """Every second triple for people is true."""
    triples = PooledTriple.objects.filter(reason="").order_by("id")
    return {(t.head, t.relation, t.tail): Answer.YES if i % 2 else Answer.NO for i, t in enumerate(triples)}


def test_without_errors_everything_is_settled_as_the_truth_says(world) -> None:
    truth = truth_of(world)
    done = simulate(world.campaign, Simulation(truth, error_rate=0))
    assert (done.labels, done.adjudicated) == (12, 0)
    judged = {
        (j.triple.head, j.triple.relation, j.triple.tail): j.verdict for j in Judgement.objects.select_related("triple")
    }
    assert judged == {t: "positive" if a == "Y" else "negative" for t, a in truth.items()}
    assert set(Item.objects.values_list("state", flat=True)) == {"settled"}


def test_errors_become_disputes_that_the_adjudicator_settles(world) -> None:
    done = simulate(world.campaign, Simulation(truth_of(world), error_rate=0.5, seed=1))
    assert done.adjudicated > 0
    assert Slot.objects.filter(number=3, state="answered").count() == done.adjudicated
    for item in Item.objects.all():
        people = list(item.slots.values_list("annotator", flat=True))
        assert len(set(people)) == len(people)


def test_stopped_and_continued_gives_what_one_go_gives(world) -> None:
    how = {"error_rate": 0.3, "seed": 4}
    assert simulate(world.campaign, Simulation(truth_of(world), limit=5, **how)).labels == 5
    assert simulate(world.campaign, Simulation(truth_of(world), limit=5, **how)).labels == 0
    simulate(world.campaign, Simulation(truth_of(world), **how))
    assert Label.objects.exclude(slot__number=3).count() == 12
    assert simulate(world.campaign, Simulation(truth_of(world), **how)).labels == 0


def test_share_is_left_to_people_free_to_be_claimed(world) -> None:
    simulate(world.campaign, Simulation(truth_of(world), error_rate=0, leave=0.5))
    assert Item.objects.filter(state="settled").count() == 3
    assert Slot.objects.filter(state="leased").count() == 0
    assert len(claim(world.campaign, world.ann, 50)) == 3


def test_unknown_truth_is_cannot_tell(world) -> None:
    simulate(world.campaign, Simulation({}, error_rate=0))
    assert set(Item.objects.values_list("state", flat=True)) == {"undecided"}


def in_batches(world) -> None:
    """The world's campaign in batches of one question, three triples each."""
    Item.objects.all().delete()
    Batch.objects.all().delete()
    Campaign.objects.update(batch_size=1)
    world.campaign.refresh_from_db()


def test_simulated_people_go_on_from_batch_to_batch_to_the_end(world) -> None:
    in_batches(world)
    told = []
    done = simulate(
        world.campaign, Simulation(truth_of(world), error_rate=0), lambda given, total: told.append((given, total))
    )
    assert done.labels == 12
    assert set(told) == {(given, 12) for given in range(1, 13)}
    assert set(Item.objects.values_list("state", flat=True)) == {"settled"}
    assert Batch.objects.count() == 2


def test_share_that_is_left_to_people_is_one_of_the_whole_pool(world) -> None:
    in_batches(world)
    simulate(world.campaign, Simulation(truth_of(world), error_rate=0, leave=0.5))
    assert list(Item.objects.order_by("order").values_list("state", flat=True)) == ["settled"] * 3 + ["open"] * 3


@pytest.mark.parametrize(("rule", "linked"), [("both", {"Y", "N"}), ("yes", {"Y"}), ("never", set())])
def test_only_answers_that_need_a_link_have_one(world, rule: str, linked: set[str]) -> None:
    Campaign.objects.update(evidence_rule=rule)
    world.campaign.refresh_from_db()
    simulate(world.campaign, Simulation(truth_of(world), error_rate=0))
    given = Label.objects.all()
    assert {label.answer for label in given} == {"Y", "N"}
    assert {label.answer for label in given if label.source_url} == linked
    assert {label.answer for label in given if not label.source_url} == {"Y", "N"} - linked


def test_made_up_times_are_no_pace(world, manager, monkeypatch) -> None:
    monkeypatch.setattr("annotation.campaigns.overview.FEW", 1)
    simulate(world.campaign, Simulation(truth_of(world), error_rate=0, limit=6))
    assert overview(world.campaign).pace_ms is None
    slot, *_ = claim(world.campaign, world.ann, 50)
    answer(world.ann, slot, active_ms=7000)
    assert overview(world.campaign).pace_ms == 7000
    rows = annotators(world.campaign)
    assert {row.person.username.startswith(NAME) for row in rows} == {True, False}
    assert all(row.is_simulated == row.person.username.startswith(NAME) for row in rows)
    html = manager.get("/pools/p1/campaign/annotators").content.decode()
    assert html.count('data-test="simulated"') == sum(row.is_simulated for row in rows)


def test_person_with_the_name_and_a_password_is_not_simulated(world, monkeypatch) -> None:
    monkeypatch.setattr("annotation.campaigns.overview.FEW", 1)
    person, _ = add_person(f"{NAME}1", "annotator", world.campaign, password="a-long-password-of-mine")
    slot, *_ = claim(world.campaign, person, 50)
    answer(person, slot, active_ms=7000)
    assert overview(world.campaign).pace_ms == 7000
    assert [row.is_simulated for row in annotators(world.campaign)] == [False]

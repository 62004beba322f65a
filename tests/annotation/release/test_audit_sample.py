"""The audit sample: which filtered triples people judge, and that nothing tells them."""

import pytest
from django.contrib.auth.models import User

from annotation.campaigns.lifecycle import open_campaign
from annotation.errors import CampaignError
from annotation.models import Campaign, Gold, Slot
from annotation.quality.checks import gold_from_file, gold_from_pool
from annotation.release import audit_sample
from annotation.release.audit_sample import audited, draw_audit
from annotation.release.next_batch import unreleased
from core.models import AuditEntry
from core.people.roles import CampaignRole
from pooling.enums import PoolOrigin, PoolState
from pooling.models import Pool, PooledTriple
from tests.annotation.factories import CITIES, answer, claim, findings
from tests.factories import names_of

SIZES = {"types": 8, "category-head": 20, "self-answer": 1}


@pytest.fixture
def pool(graph) -> Pool:
    """Ten head questions of two triples each, and filtered ones among them by SIZES."""
    pool = Pool.objects.create(
        graph=graph,
        name="p1",
        origin=PoolOrigin.BUILT,
        state=PoolState.READY,
        depth=9,
        seed_source="test",
        contributors=["a"],
    )
    filtered = [reason for reason, n in SIZES.items() for _ in range(n)]
    reasons = ["", "", *[None] * 3] * CITIES
    for place, reason in enumerate(reasons):
        if reason is None:
            reasons[place] = filtered.pop() if filtered else "-"
    PooledTriple.objects.bulk_create(
        PooledTriple(
            pool=pool,
            head=place % 5,
            relation=0,
            tail=12 + place // 5,
            depth=3,
            provenance=findings((0, 1, 3)),
            reason=reason,
        )
        for place, reason in enumerate(reasons)
        if reason != "-"
    )
    return pool


def by_reason(campaign: Campaign) -> dict[str, int]:
    found: dict[str, int] = {}
    for reason in audited(campaign).values_list("triple__reason", flat=True):
        found[reason] = found.get(reason, 0) + 1
    return found


def ids(campaign: Campaign) -> set[int]:
    return set(audited(campaign).values_list("triple", flat=True))


def test_share_is_drawn_of_each_filter_and_one_at_least(pool) -> None:
    campaign = open_campaign(pool)
    assert draw_audit(campaign, 0.25, seed=2) == (8, 8, 20)
    assert by_reason(campaign) == {"types": 2, "category-head": 5, "self-answer": 1}
    batch = campaign.batches.get(number=2)
    assert (batch.origin, batch.size, batch.settings) == ("audit", 8, {"share": 0.25, "seed": 2})
    assert set(audited(campaign).values_list("triple__reason", "probability", "place", "state")) == {
        ("types", 0.25, None, "open"),
        ("category-head", 0.25, None, "open"),
        ("self-answer", 1.0, None, "open"),
    }
    assert Slot.objects.filter(item__batch=batch).count() == 16


def test_draw_is_seeded(pool) -> None:
    drawn = []
    for seed in (1, 1, 2):
        Campaign.objects.all().delete()
        campaign = open_campaign(pool)
        draw_audit(campaign, 0.25, seed=seed)
        drawn.append(ids(campaign))
        Slot.objects.all().delete()
        campaign.items.all().delete()
        campaign.batches.all().delete()
        campaign.delete()
    assert drawn[0] == drawn[1] != drawn[2]


def test_drawing_again_adds_only_what_is_missing_and_gives_all_the_new_chance(pool) -> None:
    campaign = open_campaign(pool)
    draw_audit(campaign, 0.25)
    before = ids(campaign)
    assert draw_audit(campaign, 0.25, seed=9) == (0, 8, 0)
    assert campaign.batches.count() == 2
    assert AuditEntry.objects.filter(act="audit-drawn").count() == 1
    assert draw_audit(campaign, 0.5) == (7, 15, 20)
    assert before < ids(campaign)
    assert set(audited(campaign).values_list("triple__reason", "probability")) == {
        ("types", 0.5),
        ("category-head", 0.5),
        ("self-answer", 1.0),
    }
    assert draw_audit(campaign, 1) == (14, 29, 20)


def test_filter_stays_on_the_triple(pool) -> None:
    campaign = open_campaign(pool, audit=0.25)
    assert set(campaign.items.filter(batch__number=2).values_list("triple__reason", flat=True)) == set(SIZES)


def test_sample_at_the_opening_is_mixed_among_the_others_in_their_groups(pool) -> None:
    campaign = open_campaign(pool, audit=1.0, seed=4)
    assert list(campaign.batches.values_list("number", "origin", "size")) == [(1, "all", 20), (2, "audit", 29)]
    entry = AuditEntry.objects.get(act="campaign-opened")
    assert entry.about == "20 triples to judge, 29 of an audit sample"
    groups: dict[int, set[tuple[int, int]]] = {}
    for group, tail, number in campaign.items.values_list("group", "triple__tail", "batch__number"):
        groups.setdefault(group, set()).add((tail, number))
    assert len(groups) == CITIES
    assert all(len({tail for tail, _ in found}) == 1 for found in groups.values())
    assert sum({number for _, number in found} == {1, 2} for found in groups.values()) == CITIES
    sequence = list(campaign.items.order_by("order").values_list("batch__number", flat=True))
    assert sequence != sorted(sequence)
    assert [sequence[i : i + 5] for i in (0, 5)] != [[1, 1, 2, 2, 2]] * 2


def test_later_sample_comes_with_the_next_batch_in_one_order(pool) -> None:
    campaign = open_campaign(pool, batch_size=2)
    draw_audit(campaign, 1.0)
    assert list(campaign.batches.values_list("number", "origin")) == [(1, "order"), (2, "order"), (3, "audit")]
    shared = campaign.batches.get(number=2).items.values_list("group", flat=True)
    assert campaign.batches.get(number=3).items.filter(group__in=shared).exists()
    numbers = list(campaign.items.order_by("order").values_list("batch__number", flat=True))
    assert set(numbers) == {1, 2, 3} and numbers != sorted(numbers)


def sequence(campaign: Campaign) -> list[list[str]]:
    """Where the items of each group come from, the groups in the order in which they are given out."""
    groups: dict[int, list[str]] = {}
    for group, origin in campaign.items.order_by("order").values_list("group", "batch__origin"):
        groups.setdefault(group, []).append(origin)
    return list(groups.values())


def member(campaign: Campaign, users) -> User:
    person = users.objects.create_user("ann")
    campaign.members.create(person=person, role=CampaignRole.ANNOTATOR)
    return person


def test_sample_drawn_after_everything_was_released_is_mixed_with_what_nobody_has_begun(
    pool, django_user_model
) -> None:
    campaign = open_campaign(pool, seed=4)
    ann = member(campaign, django_user_model)
    held = claim(campaign, ann, 3)
    answer(ann, held[0])
    begun = campaign.items.filter(group__in=[slot.item.group for slot in held])
    before = dict(begun.values_list("pk", "order"))
    drawn = draw_audit(campaign, 1.0)
    assert (drawn.added, drawn.others, len(before)) == (29, 16, 4)
    assert dict(begun.values_list("pk", "order")) == before
    found = sequence(campaign)
    assert found[:2] == [["all", "all"], ["all", "all"]]
    mixed = [group for group in found[2:] if "all" in group]
    assert len(mixed) == CITIES - 2 and all(group.count("all") == 2 for group in mixed)
    assert sum("audit" in group for group in mixed) == CITIES - 2  # the sample stands among its own question
    assert any(group != sorted(group) for group in mixed)
    assert len(claim(campaign, ann, 50)) == 3 + 16 + 29


def test_sample_without_anything_to_mix_it_with_says_so(pool, django_user_model) -> None:
    campaign = open_campaign(pool)
    ann = member(campaign, django_user_model)
    for slot in claim(campaign, ann, 50):
        answer(ann, slot)
    drawn = draw_audit(campaign, 0.25)
    assert (drawn.added, drawn.others) == (8, 0)
    assert drawn.among == (
        "Nothing else is left to begin: people can tell that what comes now is a sample of what filters took."
    )


def test_of_very_many_a_random_part_is_mixed(pool, monkeypatch) -> None:
    monkeypatch.setattr(audit_sample, "_MOVED", 24)
    campaign = open_campaign(pool)
    before = dict(campaign.items.values_list("pk", "order"))
    drawn = draw_audit(campaign, 0.25)
    after = dict(campaign.items.values_list("pk", "order"))
    assert 0 < drawn.others < 20
    assert sum(before[pk] != after[pk] for pk in before) == drawn.others


def test_later_sample_comes_alone_where_something_stops_the_next_batch(pool) -> None:
    campaign = open_campaign(pool, batch_size=2)
    Campaign.objects.update(budget=0)
    waiting = unreleased(pool).count()
    draw_audit(campaign, 1.0)
    assert list(campaign.batches.values_list("number", "origin")) == [(1, "order"), (2, "audit")]
    assert unreleased(pool).count() == waiting > 0


@pytest.mark.parametrize("share", [0, -0.1, 1.5])
def test_share_that_is_none_is_refused_and_nothing_is_made(pool, share) -> None:
    campaign = open_campaign(pool)
    with pytest.raises(CampaignError, match="above 0 and at most 1: not"):
        draw_audit(campaign, share)
    assert campaign.batches.count() == 1


def test_share_that_is_none_opens_no_campaign(pool) -> None:
    with pytest.raises(CampaignError, match=r"not 2\."):
        open_campaign(pool, audit=2)
    assert not Campaign.objects.exists()


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_seed_that_no_generator_takes_is_refused(pool, seed) -> None:
    with pytest.raises(CampaignError, match=f"Seed {seed}: give a whole number from 0 to 2147483647"):
        open_campaign(pool, seed=seed)
    campaign = open_campaign(pool)
    with pytest.raises(CampaignError, match=f"Seed {seed}: give a whole number from 0 to 2147483647"):
        draw_audit(campaign, 0.5, seed=seed)
    assert campaign.batches.count() == 1


def test_pool_without_filtered_triples_and_closed_campaign_are_refused(pool) -> None:
    campaign = open_campaign(pool)
    Campaign.objects.update(state="closed")
    with pytest.raises(CampaignError, match="The campaign of p1 is closed"):
        draw_audit(campaign, 0.5)
    Campaign.objects.update(state="open")
    pool.triples.exclude(reason="").delete()
    with pytest.raises(CampaignError, match="No filter took a triple of pool p1"):
        draw_audit(campaign, 0.5)


def test_gold_items_and_the_sample_share_no_triple(world, tmp_path) -> None:
    """One triple was filtered: as gold it is not drawn, and in the sample it is no gold."""
    gold_from_pool(world.campaign, positives=0, negatives=1)
    assert draw_audit(world.campaign, 1.0) == (0, 0, 0)
    Gold.objects.all().delete()
    assert draw_audit(world.campaign, 1.0) == (1, 1, 6)
    with pytest.raises(CampaignError, match="1 gold items of triples filtered for their type: the pool has 0"):
        gold_from_pool(world.campaign, positives=0, negatives=1)
    (tmp_path / "gold.tsv").write_text("p1\tlived_in\tc2\tN\n")
    with pytest.raises(CampaignError, match="people label this triple"):
        gold_from_file(world.campaign, tmp_path / "gold.tsv")


def test_triple_that_waits_for_its_batch_is_no_gold(world, tmp_path) -> None:
    waiting = world.campaign.items.first()
    key = "\t".join(names_of(world.pool.graph, (waiting.triple.head, 0, waiting.triple.tail))) + "\tN\n"
    waiting.delete()
    (tmp_path / "gold.tsv").write_text(key)
    with pytest.raises(CampaignError, match="people label this triple"):
        gold_from_file(world.campaign, tmp_path / "gold.tsv")


def test_sampled_triple_is_given_out_like_any_other(world) -> None:
    draw_audit(world.campaign, 1.0)
    slots = claim(world.campaign, world.ann, 50)
    assert len(slots) == 7
    assert {(slot.state, slot.number) for slot in slots} == {("leased", 1)}

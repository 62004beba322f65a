"""What an item has come to, for tests of all that changes it."""

from annotation.judging.judgements import live_labels
from annotation.labelling.queue import claim_disputed
from annotation.models import Item, Judgement
from tests.annotation.world import World, answer, windows_closed


def items_of(world: World) -> list[Item]:
    return list(world.campaign.items.order_by("order"))


def standing(item: Item) -> tuple[str, str | None, dict[int, str], list[int]]:
    """State, verdict, the answers that count by slot number, and the numbers of the slots that are not answered."""
    item.refresh_from_db()
    verdict = Judgement.objects.filter(triple=item.triple_id).values_list("verdict", flat=True).first()
    answers = dict(live_labels().filter(item=item).values_list("slot__number", "answer"))
    waiting = item.slots.filter(state__in=["free", "leased"]).order_by("number").values_list("number", flat=True)
    return item.state, verdict, answers, list(waiting)


def decided(world: World, item: Item, given: str = "Y", by: str = "ada") -> None:
    windows_closed(item)
    (slot,) = [slot for slot in claim_disputed(world.campaign, getattr(world, by), 50) if slot.item_id == item.pk]
    answer(getattr(world, by), slot, given)

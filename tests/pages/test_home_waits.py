"""Home tells managers what waits on a pool, disputes and reports, and what its signs mean."""

from uuid import uuid4

from annotation.enums import FlagKind, ItemState
from annotation.models import Flag, Item, QuestionTemplate
from evaluation.overview.status import State
from tests.page import content


def test_home_says_which_disputes_and_reports_wait(world: dict, sign_in):
    item = Item.objects.filter(campaign__pool__name="town-pool").first()
    assert item is not None
    Item.objects.filter(pk=item.pk).update(state=ItemState.DISPUTED)
    by = {"campaign": item.campaign, "item": item, "person": world["annotator"]}
    words = QuestionTemplate.objects.first()
    Flag.objects.create(**by, template=words, kind=FlagKind.values[0], text="Odd.", client_id=uuid4())
    links = content(sign_in("manager").get("/")).one("waits").all(tag="a")
    assert [link["href"] for link in links] == [
        "/pools/town-pool/campaign/triples?state=disputed",
        "/pools/town-pool/campaign/inbox",
    ]
    assert not content(sign_in("researcher").get("/")).has("waits")


def test_pages_whose_notes_depend_on_what_is_left_open(world: dict, sign_in):
    for address in ("campaign/people", "questions?made=odd", "campaign/annotators", "campaign/inbox"):
        assert sign_in("manager").get(f"/pools/town-pool/{address}").status_code == 200


def test_home_says_in_words_what_the_signs_of_the_stages_mean(world: dict, sign_in):
    page = content(sign_in("manager").get("/"))
    signs = page.one("signs").all(tag="span")
    shown = {link["class"].split()[1] for item in page.all(tag="li", class_="step") for link in item.all(tag="a")}
    assert len(shown) > 1 and {sign["class"].split()[1] for sign in signs} == shown
    assert [sign.text for sign in signs] == [state.label for state in State if f"badge-{state}" in shown]

"""Training by keys."""

from annotation.campaigns.lifecycle import set_rules
from annotation.models import TrainingQuestion
from tests.annotation.browser.hands import question
from tests.annotation.factories import World, make_gold


def test_training_goes_by_keys_to_the_first_question(world: World, open_page):
    for tail, known in enumerate("YN"):
        make_gold(world, tail, known)
    set_rules(world.campaign, training_items=2, training_percent=50)
    page = open_page(world.ann)
    page.keyboard.press("Enter")  # starts it
    for right in (True, False):
        page.locator(".training-answers").wait_for()
        asked = TrainingQuestion.objects.get(pk=page.locator("[name=question]").input_value())
        page.keyboard.press("y" if (asked.gold.answer == "Y") == right else "n")
        told = page.locator("[data-test=told]")
        told.wait_for()
        assert told.get_attribute("data-right") == ("yes" if right else "no")
        page.keyboard.press("Enter")
    page.locator("[data-test=done]").wait_for()
    page.keyboard.press("Enter")
    page.locator("[data-question]:not(:empty)").wait_for()
    assert question(page)

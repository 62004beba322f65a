"""Own reports and the answers to them; nothing of others."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.messages.flags import answer_flag
from annotation.models import Flag
from tests.annotation.factories import report_of
from tests.page import read

URL = "/campaigns/p1/messages"


def new_answers(client: Client) -> list[str]:
    """Return the number that the home page's link to the own reports tells, if it tells one."""
    return re.findall(r"\d+", read(client.get("/")).one(tag="a", href=URL).text)


def test_own_reports_newest_first_with_their_answers(world, as_user) -> None:
    answer_flag(report_of(world, world.ann, "other", "one"), "it is so", by=world.manager)
    report_of(world, world.ann, "name", "two")
    page = read(as_user(world.ann).get(URL))
    assert page.texts("text") == ["two", "one", "it is so"]
    assert page.texts("replied-by") == ["manager"]
    assert (len(page.all("new")), len(page.all("waits"))) == (1, 1)


def test_reports_of_others_are_not_there(world, as_user) -> None:
    answer_flag(report_of(world, world.ben, "other", "secret of ben"), "secret reply", by=world.manager)
    html = as_user(world.ann).get(URL).content.decode()
    assert "secret" not in html and ">ben<" not in html and read(html).has("empty")
    assert new_answers(as_user(world.ann)) == []


def test_home_counts_answers_of_the_last_days(world, as_user) -> None:
    flag = report_of(world, world.ann)
    assert new_answers(as_user(world.ann)) == []
    answer_flag(flag, "yes", by=world.manager)
    assert new_answers(as_user(world.ann)) == ["1"]
    assert new_answers(as_user(world.ben)) == []
    Flag.objects.update(replied_at=timezone.now() - timedelta(days=8))
    assert new_answers(as_user(world.ann)) == []
    assert not read(as_user(world.ann).get(URL)).has("new")


def test_a_reply_is_new_until_it_was_shown(world, as_user) -> None:
    answer_flag(report_of(world, world.ann), "yes", by=world.manager)
    assert read(as_user(world.ann).get(URL)).has("new")
    assert not read(as_user(world.ann).get(URL)).has("new")
    assert new_answers(as_user(world.ann)) == []


@pytest.mark.parametrize(
    ("who", "status"),
    [("nobody", 302), ("stranger", 404), ("ann", 200), ("ada", 200), ("manager", 403), ("researcher", 403)],
)
def test_who_may_read(world, as_user, who, status) -> None:
    assert as_user(getattr(world, who, None)).get(URL).status_code == status


def test_answers_are_text(world, as_user) -> None:
    answer_flag(report_of(world, world.ann, "other", "<i>x</i>"), "{{ 1 }}<script>x</script>", by=world.manager)
    page = read(as_user(world.ann).get(URL))
    assert page.texts("text") == ["<i>x</i>", "{{ 1 }}<script>x</script>"]


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, as_user, count, django_assert_num_queries) -> None:
    for number in range(count):
        report_of(world, world.ann, "other", f"report {number}")
    client = as_user(world.ann)
    client.get(URL)
    with django_assert_num_queries(7):
        client.get(URL)

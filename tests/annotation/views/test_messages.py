"""Own reports and the answers to them; nothing of others."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.messages.flags import answer_flag
from annotation.models import Flag
from tests.annotation.flags import report_of

URL = "/campaigns/p1/messages"


def texts(html: str) -> list[str]:
    return re.findall(r'<blockquote class="lines break">([^<]*)</blockquote>', html)


def test_own_reports_newest_first_with_their_answers(world, as_user) -> None:
    answer_flag(report_of(world, world.ann, "other", "one"), "it is so", by=world.manager)
    report_of(world, world.ann, "name", "two")
    html = as_user(world.ann).get(URL).content.decode()
    assert texts(html) == ["two", "one", "it is so"]
    assert "manager answered" in html and html.count("new answer") == 1 and html.count("waits for an answer") == 1


def test_reports_of_others_are_not_there(world, as_user) -> None:
    answer_flag(report_of(world, world.ben, "other", "secret of ben"), "secret reply", by=world.manager)
    html = as_user(world.ann).get(URL).content.decode()
    assert "secret" not in html and ">ben<" not in html and "No reports yet" in html
    assert "My reports</a>" in as_user(world.ann).get("/").content.decode()


def test_home_counts_answers_of_the_last_days(world, as_user) -> None:
    flag = report_of(world, world.ann)
    assert "My reports</a>" in as_user(world.ann).get("/").content.decode()
    answer_flag(flag, "yes", by=world.manager)
    assert "My reports: 1 new answer</a>" in as_user(world.ann).get("/").content.decode()
    assert "My reports</a>" in as_user(world.ben).get("/").content.decode()
    Flag.objects.update(replied_at=timezone.now() - timedelta(days=8))
    html = as_user(world.ann).get("/").content.decode()
    assert "My reports</a>" in html and "new answer" not in html
    assert "new answer" not in as_user(world.ann).get(URL).content.decode()


@pytest.mark.parametrize(
    ("who", "status"),
    [("nobody", 302), ("stranger", 404), ("ann", 200), ("ada", 200), ("manager", 403), ("researcher", 403)],
)
def test_who_may_read(world, as_user, who, status) -> None:
    assert as_user(getattr(world, who, None)).get(URL).status_code == status


def test_answers_are_text(world, as_user) -> None:
    answer_flag(report_of(world, world.ann, "other", "<i>x</i>"), "{{ 1 }}<script>x</script>", by=world.manager)
    html = as_user(world.ann).get(URL).content.decode()
    assert texts(html) == ["&lt;i&gt;x&lt;/i&gt;", "{{ 1 }}&lt;script&gt;x&lt;/script&gt;"]


@pytest.mark.parametrize("count", [1, 3])
def test_queries_do_not_grow(world, as_user, count, django_assert_num_queries) -> None:
    for number in range(count):
        report_of(world, world.ann, "other", f"report {number}")
    client = as_user(world.ann)
    client.get(URL)
    with django_assert_num_queries(9):
        client.get(URL)

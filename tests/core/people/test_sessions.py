"""Sessions are looked up by what a browser sends, so by anything."""

import pytest
from pytest_django import DjangoAssertNumQueries

from core.people.sessions import SessionStore

pytestmark = pytest.mark.django_db


def test_key_with_nul_is_no_session_and_asks_the_database_nothing(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    with django_assert_num_queries(0):  # PostgreSQL would refuse the query with an error
        assert dict(SessionStore("a" * 32 + "\0").items()) == {}

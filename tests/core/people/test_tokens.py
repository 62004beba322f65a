"""API tokens: who may make which, and what is left of them."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.enums import CoreAct
from core.models import ApiToken, AuditEntry
from core.people.tokens import MOST_TOKENS, TokenError, create_token, revoke_all, revoke_token, scopes_for, tokens_of
from tests.pages.world import make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita() -> User:
    return make_person("rita", site="researcher")


@pytest.mark.parametrize(
    ("site", "scopes"), [("manager", ["read", "run", "manage"]), ("researcher", ["read", "run"]), ("", ["label"])]
)
def test_scopes_follow_the_role(site, scopes):
    assert scopes_for(make_person("somebody", site=site)) == scopes


def test_token_is_kept_as_a_hash_with_its_end(rita):
    before = timezone.now()
    token, secret = create_token(rita, " nightly ", ["run", "read"], 30)
    token.refresh_from_db()
    assert secret.startswith("tp_") and secret.startswith(token.token_key)
    assert secret not in " ".join(map(str, ApiToken.objects.values_list().get()))
    assert (token.name, token.scopes) == ("nightly", ["read", "run"])
    assert timedelta(days=30) <= token.expiry - before < timedelta(days=30, minutes=5)
    entry = AuditEntry.objects.get(act=CoreAct.TOKEN_MADE)
    assert (entry.person, entry.details) == (rita, {"scopes": ["read", "run"], "days": 30})


@pytest.mark.parametrize(
    ("name", "scopes", "days", "message"),
    [
        (" ", ["read"], 30, "Give the token a name of 1 to 80 characters, by which you will know it."),
        ("x" * 81, ["read"], 30, "Give the token a name of 1 to 80 characters, by which you will know it."),
        ("a", [], 30, "Choose what the token is for, of: read, run."),
        ("a", ["read", "manage"], 30, "Choose what the token is for, of: read, run."),
        ("a", ["read"], 0, "A token lives 1 to 365 days, not 0."),
        ("a", ["read"], 366, "A token lives 1 to 365 days, not 366."),
    ],
)
def test_token_that_cannot_be(rita, name, scopes, days, message):
    with pytest.raises(TokenError) as caught:
        create_token(rita, name, scopes, days)
    assert str(caught.value) == message
    assert not tokens_of(rita).exists()


def test_name_is_used_once_a_person(rita):
    create_token(rita, "nightly", ["read"], 30)
    create_token(make_person("rolf", site="researcher"), "nightly", ["read"], 30)
    with pytest.raises(TokenError, match="You have a token named nightly"):
        create_token(rita, "nightly", ["read"], 30)
    assert ApiToken.objects.count() == 2


def test_number_of_tokens_is_limited_and_expired_ones_make_room(rita):
    for i in range(MOST_TOKENS):
        create_token(rita, f"t{i}", ["read"], 30)
    with pytest.raises(TokenError, match="You have 20 tokens: revoke one"):
        create_token(rita, "more", ["read"], 30)
    tokens_of(rita).filter(name="t3").update(expiry=timezone.now() - timedelta(seconds=1))
    create_token(rita, "more", ["read"], 30)
    names = set(tokens_of(rita).values_list("name", flat=True))
    assert "more" in names and "t3" not in names and len(names) == MOST_TOKENS


def test_revoking_ends_ones_own_token_only(rita):
    create_token(rita, "nightly", ["read"], 30)
    rolf = make_person("rolf", site="researcher")
    create_token(rolf, "nightly", ["read"], 30)
    revoke_token(rita, "nightly")
    revoke_token(rita, "nightly")
    assert list(ApiToken.objects.values_list("user__username", flat=True)) == ["rolf"]
    assert AuditEntry.objects.filter(act=CoreAct.TOKEN_REVOKED).count() == 1
    assert revoke_all(rolf) == 1
    assert not ApiToken.objects.exists()

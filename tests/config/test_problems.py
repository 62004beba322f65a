"""What a person can mend is told to them, and only that."""

import pytest
from django.http import Http404
from django.test import RequestFactory

from config.problems import ShowUserErrors
from core.errors import GoneError
from pooling.errors import PoolError
from tests.page import element, has


@pytest.fixture
def shown(django_user_model, db):
    request = RequestFactory().get("/pools/p")
    request.user = django_user_model.objects.create_user("someone")
    return lambda error: ShowUserErrors(lambda r: None).process_exception(request, error)


def test_user_error_is_a_page_with_its_escaped_message(shown):
    response = shown(PoolError("<b>topk.parquet</b> is missing: restore it"))
    assert response.status_code == 503
    assert "&lt;b&gt;topk.parquet&lt;/b&gt; is missing: restore it" in response.content.decode()


def test_what_was_deleted_meanwhile_is_not_found(shown):
    response = shown(GoneError("Pool p was deleted in the meantime, so nothing was changed."))
    assert response.status_code == 404
    assert element(response, "problem").text == "Pool p was deleted in the meantime, so nothing was changed."
    assert not has(response, "safe") and has(shown(PoolError("broken")), "safe")


@pytest.mark.parametrize("error", [ValueError("secret path"), Http404("gone")])
def test_other_errors_are_left_to_django(shown, error):
    assert shown(error) is None

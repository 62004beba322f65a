"""Names that can be taken for one another."""

import pytest
from django.contrib.auth.models import User

from annotation.errors import PersonError
from annotation.people.accounts import LOOKS_TAKEN, NAME_TAKEN, add_person, make_account
from annotation.people.names import looks_like_one_of, skeleton

PASSWORD = "a long pass phrase"


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("аnna", "anna"),  # Cyrillic а
        ("АNNА", "anna"),  # Cyrillic А
        ("Вob", "bob"),  # Cyrillic В, whose small letter в looks like no Latin one
        ("σlga", "olga"),
        ("Σlga", "σlga"),
        ("änna", "anna"),
        ("a\u0308nna", "anna"),
        ("Aｎna", "anna"),
        ("ann0", "anno"),
        ("pau1", "Paul"),
        ("straße", "strasse"),
        ("сосо", "coco"),  # all of it Cyrillic
        ("soña", "sona"),
        ("aIice", "alice"),  # capital I
        ("alice", "aIice"),
        ("anna-I", "anna-1"),
        ("AIICE", "aiice"),
        ("rnary", "mary"),
    ],
)
def test_names_that_look_alike(name: str, other: str) -> None:
    assert looks_like_one_of(name, ["somebody", other])


@pytest.mark.parametrize(
    ("name", "other"),
    [("anna", "hanna"), ("анна", "anna"), ("ann1", "ann2"), ("ian", "lan"), ("Ina", "una"), ("a.b", "a-b")],
)
def test_names_that_look_different(name: str, other: str) -> None:
    assert not looks_like_one_of(name, [other])


def test_look_of_a_name_in_another_script_keeps_it_apart() -> None:
    assert len({skeleton(name) for name in ("анна", "инна", "李", "王", "たか", "たが")}) == 6


@pytest.mark.django_db
def test_account_that_looks_like_another_is_refused() -> None:
    make_account("anna", PASSWORD)
    for name, told in (("аnna", LOOKS_TAKEN), ("Anna", NAME_TAKEN), ("ａnna", NAME_TAKEN)):
        with pytest.raises(PersonError) as caught:
            make_account(name, PASSWORD)
        assert str(caught.value) == told.format(name)
    assert User.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["erased-1a2b3c4d", "ｅrased-1a2b3c4d", "Erased-x", "еrased-x"])
def test_name_that_looks_like_a_pseudonym_is_refused(name: str) -> None:
    with pytest.raises(PersonError):
        make_account(name, PASSWORD)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["server", "Server", "ѕerver", "ｓerver"])
def test_name_by_which_the_audit_log_calls_the_server_is_refused(name: str) -> None:
    with pytest.raises(PersonError):
        make_account(name, PASSWORD)


@pytest.mark.django_db
def test_names_are_kept_and_found_in_one_form() -> None:
    made, password = add_person("ｒita", "researcher")
    assert (made.username, bool(password)) == ("rita", True)
    assert add_person("ｒita", "manager") == (made, None)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["anna\u115f", "an\u1160na", "\u3164", "anna\uffa0"])
def test_name_with_a_letter_that_nobody_sees_is_refused(name: str) -> None:
    make_account("anna", PASSWORD)
    with pytest.raises(PersonError):
        make_account(name, PASSWORD)
    assert User.objects.count() == 1

import pytest

from annotation.domain.evidence import check_evidence
from annotation.errors import EvidenceError

HOSTS = ["wikipedia.org", "müller.example"]


@pytest.mark.parametrize(
    "url",
    [
        "https://wikipedia.org/wiki/X",
        "https://en.m.wikipedia.org/wiki/Ada?x=1#y",
        "https://EN.Wikipedia.ORG/",
        "https://en.wikipedia.org/wiki/Ä%20b",
        "https://www.müller.example/",
        "https://xn--mller-kva.example/",
    ],
)
def test_link_at_or_under_a_verified_host_is_accepted(url: str) -> None:
    check_evidence(url, HOSTS, "both", "Y")


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("javascript:alert(1)", "does not begin with https://"),
        ("http://en.wikipedia.org/", "does not begin with https://"),
        ("//en.wikipedia.org/", "does not begin with https://"),
        ("https://evilwikipedia.org/", "goes to evilwikipedia.org"),
        ("https://wikipedia.org.evil.com/", "goes to wikipedia.org.evil.com"),
        ("https://evil.com/wikipedia.org", "goes to evil.com"),
        ("https://evil.com#.wikipedia.org", "goes to evil.com"),
        ("https://en.wikipedia.org@evil.com/", "user name"),
        ("https://me:pw@en.wikipedia.org/", "user name"),
        ("https://en.wikipedia.org:8443/", "has a port"),
        ("https://en.wikipedia.org:443/", "has a port"),
        ("https://127.0.0.1/", "has no host name"),
        ("https://[::1]/", "has no host name"),
        ("https:///wiki", "has no host name"),
        ("https://en.wikipedia.org/a b", "has a space"),
        ("https://evil.com\\.wikipedia.org/", "backslash"),
        ("https://en.wiki\npedia.org/", "control character"),
        ("https://en.wiki\u200bpedia.org/", "control character"),
        ("java\tscript:alert(1)", "control character"),
        ("https://[en.wikipedia.org/", "is not a web address"),
        ("https://en.wikipedia.org/" + "a" * 2000, "more than 2000"),
    ],
)
def test_other_links_are_refused_with_the_allowed_hosts(url: str, why: str) -> None:
    with pytest.raises(EvidenceError) as refused:
        check_evidence(url, HOSTS, "never", "Y")
    assert why in str(refused.value)
    assert str(refused.value).endswith("Links may go to: müller.example, wikipedia.org.")


@pytest.mark.parametrize(
    ("rule", "required"),
    [
        ("both", {"Y": True, "N": True, "?": False}),
        ("yes", {"Y": True, "N": False, "?": False}),
        ("never", {"Y": False, "N": False, "?": False}),
    ],
)
def test_missing_link_is_refused_where_the_rule_asks_for_one(rule: str, required: dict[str, bool]) -> None:
    refused = {}
    for answer in required:
        try:
            check_evidence("", HOSTS, rule, answer)
            refused[answer] = False
        except EvidenceError:
            refused[answer] = True
    assert refused == required

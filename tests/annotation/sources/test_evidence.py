import pytest

from annotation.errors import EvidenceError
from annotation.sources.evidence import ascii_host, check_evidence, problem_of

HOSTS = ["wikipedia.org", "xn--mller-kva.example", "strasse.example"]


@pytest.mark.parametrize(
    "url",
    [
        "https://wikipedia.org/wiki/X",
        "https://wikipedia.org",
        "https://wikipedia.org?x=1",
        "https://wikipedia.org#y",
        "HTTPS://wikipedia.org/",
        "https://en.m.wikipedia.org/wiki/Ada?x=1#y",
        "https://EN.Wikipedia.ORG/",
        "https://en.wikipedia.org/wiki/Ä%20b",
        "https://en.wikipedia.org/wiki/A@b:80",
        "https://en.wikipedia.org/wiki/C%00",
        "https://www.müller.example/",
        "https://www.MÜLLER.example/",
        "https://xn--mller-kva.example/",
        "https://en.wikipedia.org/" + "a" * 1975,
    ],
)
def test_link_at_or_under_a_verified_host_is_accepted(url: str) -> None:
    check_evidence(url, HOSTS, "both", "Y")


REFUSED = [
    ("javascript:alert(1)", "does not begin with https://"),
    ("data:text/html,x", "does not begin with https://"),
    ("http://en.wikipedia.org/", "does not begin with https://"),
    ("//en.wikipedia.org/", "does not begin with https://"),
    ("en.wikipedia.org/wiki/Ada", "does not begin with https://"),
    ("/en.wikipedia.org", "does not begin with https://"),
    ("ftp://en.wikipedia.org/", "does not begin with https://"),
    ("view-source:https://en.wikipedia.org/", "does not begin with https://"),
    # other hosts that look like it
    ("https://evilwikipedia.org/", "goes to evilwikipedia.org"),
    ("https://wikipedia.org.evil.com/", "goes to wikipedia.org.evil.com"),
    ("https://wikipedia.org-evil.com/", "goes to wikipedia.org-evil.com"),
    ("https://wikipedia.com/", "goes to wikipedia.com"),
    ("https://org/", "goes to org"),
    ("https://evil.com/wikipedia.org", "goes to evil.com"),
    ("https://evil.com?.wikipedia.org", "goes to evil.com"),
    ("https://evil.com#.wikipedia.org", "goes to evil.com"),
    ("https://evil.com;.wikipedia.org/", "which is not accepted"),
    ("https://wikipеdia.org/", "goes to xn--wikipdia-g8g.org"),  # a Cyrillic е
    ("https://xn--wikipdia-g8g.org/", "goes to xn--wikipdia-g8g.org"),
    # hosts that another reader may read in another way
    ("https://en.wikipedia.org./", "goes to en.wikipedia.org."),
    ("https://.wikipedia.org/", "goes to .wikipedia.org"),
    ("https://en..wikipedia.org/", "goes to en..wikipedia.org"),
    ("https://evil.com%2f.wikipedia.org/", "which is not accepted"),
    ("https://evil.com%00.wikipedia.org/", "which is not accepted"),
    ("https://evil.com%23.wikipedia.org/", "which is not accepted"),
    ("https://en%2ewikipedia.org/", "which is not accepted"),
    ("https://evil.com|.wikipedia.org/", "which is not accepted"),
    ("https://evil.com<.wikipedia.org/", "which is not accepted"),
    ("https://en。wikipedia。org/", "is not a web address"),
    ("https://en．wikipedia．org/", "is not a web address"),
    ("https://ｗikipedia.org/", "is not a web address"),
    ("https://straße.example/", "is not a web address"),
    ("https://evil.com／.wikipedia.org/", "is not a web address"),
    # credentials, ports, addresses
    ("https://en.wikipedia.org@evil.com/", "user name"),
    ("https://me@en.wikipedia.org/", "user name"),
    ("https://me:pw@en.wikipedia.org/", "user name"),
    ("https://@en.wikipedia.org/", "user name"),
    ("https://en.wikipedia.org:8443/", "has a port"),
    ("https://en.wikipedia.org:443/", "has a port"),
    ("https://en.wikipedia.org:/", "has a port"),
    ("https://127.0.0.1/", "has no host name"),
    ("https://2130706433/", "has no host name"),
    ("https://0x7f.1/", "has no host name"),
    ("https://0x7f000001/", "has no host name"),
    ("https://017700000001/", "has no host name"),
    ("https://127.1./", "has no host name"),
    ("https://wikipedia.org.1/", "has no host name"),
    ("https://[::1]/", "has no host name"),
    ("https://[::ffff:127.0.0.1]/", "has no host name"),
    ("https:///wiki", "has no host name"),
    ("https:/en.wikipedia.org/", "has no host name"),
    ("https:en.wikipedia.org/", "has no host name"),
    ("https://", "has no host name"),
    ("https://[en.wikipedia.org/", "is not a web address"),
    # characters
    ("https://en.wikipedia.org/a b", "has a space"),
    (" https://en.wikipedia.org/", "has a space"),
    ("https://evil.com\\.wikipedia.org/", "backslash"),
    ("https:\\\\en.wikipedia.org/", "backslash"),
    ("https://en.wiki\npedia.org/", "control character"),
    ("https://en.wiki\tpedia.org/", "control character"),
    ("https://en.wiki\u200bpedia.org/", "control character"),
    ("https://en.wikipedia.org/\u202egpj.exe", "control character"),
    ("https://en.wikipedia.org/\x00", "control character"),
    ("https://en.wikipedia.org/\x7f", "control character"),
    ("https://en.wikipedia.org/\ud800", "control character"),
    ("java\tscript:alert(1)", "control character"),
    ("\x01https://en.wikipedia.org/", "control character"),
    ("https://en.wikipedia.org/" + "a" * 1976, "has 2001 characters, more than 2000"),
]


@pytest.mark.parametrize(("url", "why"), REFUSED)
def test_other_links_are_refused_with_the_allowed_hosts(url: str, why: str) -> None:
    with pytest.raises(EvidenceError) as refused:
        check_evidence(url, HOSTS, "never", "Y")
    assert why in str(refused.value)
    assert str(refused.value).endswith("Accepted sites: wikipedia.org, xn--mller-kva.example, strasse.example.")


def test_of_many_hosts_the_first_are_named_and_the_others_counted() -> None:
    for hosts, named, others in ((5, 2, "3"), (26, 2, "24"), (3, 3, "")):
        many = [f"host-{letter}.example" for letter in "zyxwvutsrqponmlkjihgfedcba"[:hosts]]
        with pytest.raises(EvidenceError) as refused:
            check_evidence("https://other.example/", many, "never", "Y")
        said = str(refused.value).partition("which is not accepted")[2]
        assert [host in said for host in many] == [True] * named + [False] * (hosts - named)
        assert "".join(filter(str.isdecimal, said)) == others


@pytest.mark.parametrize("answer", ["Y", "N", "?"])
def test_link_that_need_not_be_there_is_checked_all_the_same(answer: str) -> None:
    with pytest.raises(EvidenceError, match="which is not accepted"):
        check_evidence("https://evil.com/", HOSTS, "never", answer)


def test_without_sources_every_link_is_refused() -> None:
    with pytest.raises(EvidenceError, match="This campaign accepts no site yet"):
        check_evidence("https://wikipedia.org/", [], "both", "Y")
    assert problem_of("https://wikipedia.org/", []) == ("goes to wikipedia.org, which is not accepted")


def test_ascii_host_refuses_what_browsers_read_in_another_way() -> None:
    assert [ascii_host(host) for host in ("EN.Wikipedia.org", "MÜLLER.example")] == [
        "en.wikipedia.org",
        "xn--mller-kva.example",
    ]
    for host in ("straße.example", "en。wikipedia.org", "ｗiki.org", "a" * 64 + "ü.org"):
        with pytest.raises(ValueError):
            ascii_host(host)


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

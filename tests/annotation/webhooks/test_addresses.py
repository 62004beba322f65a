"""Where a webhook may go, and where never."""

from ipaddress import ip_address

import pytest

from annotation.webhooks import addresses, sending
from annotation.webhooks.addresses import AddressRefused, are_allowed, checked_target, may_connect, read_address

PUBLIC = ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e")
INSIDE = (
    "127.0.0.1", "127.8.8.8", "::1", "10.0.0.1", "172.16.3.4", "192.168.1.1", "fd12::1", "::ffff:10.0.0.1",
)  # fmt: skip
NEVER = (
    "169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "0.0.0.0", "::", "168.63.129.16", "100.100.100.200",
    "fd00:ec2::254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "fec0::1", "255.255.255.255",
)  # fmt: skip
HIDDEN = (
    "2002:7f00:1::1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "100.64.0.1", "192.0.2.1", "240.0.0.1",
    "::7f00:1", "::ffff:0:7f00:1", "64:ff9b:1::7f00:1", "5f00::1", "3fff::1", "192.0.0.8", "192.88.99.1",
)  # fmt: skip


def leads_to(monkeypatch, *found: str) -> None:
    monkeypatch.setattr(addresses, "_resolve", lambda host, port: list(found))


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses_are_allowed(address) -> None:
    assert may_connect(ip_address(address))


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_inside_are_allowed_for_named_hosts_only(address) -> None:
    assert (may_connect(ip_address(address)), may_connect(ip_address(address), private=True)) == (False, True)


@pytest.mark.parametrize("address", NEVER)
def test_link_local_multicast_and_metadata_addresses_are_never_allowed(address) -> None:
    assert not may_connect(ip_address(address)) and not may_connect(ip_address(address), private=True)


@pytest.mark.parametrize("address", HIDDEN)
def test_addresses_that_hold_another_or_belong_to_nobody_are_refused(address) -> None:
    assert not may_connect(ip_address(address))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://hooks.example.org/", "start with https"),
        ("ftp://hooks.example.org/", "start with https"),
        ("https:///x", "name a host"),
        ("https://user:pw@hooks.example.org/", "user name"),
        ("https://hooks.example.org/#a", "after #"),
        ("https://hooks.example.org:22/", "Port 22"),
        ("https://hooks.example.org:99999/", "cannot be read"),
        ("https://[::1/", "cannot be read"),
        ("https://other.example.org/", "WEBHOOK_HOSTS"),
        ("https://hooks.example.org/a b", "without spaces"),
        ("https://hooks.example.org/\r\nX: y", "without spaces"),
        ("https://hooks.example.org/" + "a" * 500, "at most 500"),
        ("https://häuser.example.org/", "ASCII"),
        ("https://[fe80::1%25eth0]/", "name a host"),
    ],
)
def test_address_that_cannot_be_used_is_refused_by_its_reason(settings, url, said) -> None:
    settings.WEBHOOK_HOSTS = ["hooks.example.org"]
    with pytest.raises(AddressRefused, match=said) as error:
        read_address(url)
    assert "pw" not in str(error.value)


def test_hosts_are_those_that_the_operator_allows(settings) -> None:
    def allowed(url: str) -> bool:
        try:
            return bool(read_address(url))
        except AddressRefused:
            return False

    urls = ("https://a.org/", "https://x.b.org/", "https://b.org/", "https://xb.org/", "https://A.ORG./")
    seen = {}
    for hosts in ([], ["a.org"], [".b.org"], ["*"]):
        settings.WEBHOOK_HOSTS = hosts
        seen[",".join(hosts)] = tuple(map(allowed, urls))
    assert seen == {
        "": (False,) * 5,
        "a.org": (True, False, False, False, True),
        ".b.org": (False, True, True, False, False),
        "*": (True,) * 5,
    }
    settings.WEBHOOK_HOSTS = []
    assert not are_allowed()


def test_host_is_refused_if_one_of_its_addresses_is_inside(settings, monkeypatch) -> None:
    settings.WEBHOOK_HOSTS = ["*"]
    leads_to(monkeypatch, PUBLIC[0], "10.0.0.1")
    with pytest.raises(AddressRefused, match="inside a network"):
        checked_target("https://hooks.example.org/")
    leads_to(monkeypatch, PUBLIC[0], PUBLIC[1])
    assert checked_target("https://hooks.example.org/x?y").address == PUBLIC[0]
    leads_to(monkeypatch)
    with pytest.raises(AddressRefused, match="has no address"):
        checked_target("https://hooks.example.org/")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "[::1]", "2130706433", "0x7f.1", "0177.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1"]
)
def test_this_machine_is_refused_however_it_is_written(settings, host) -> None:
    settings.WEBHOOK_HOSTS = ["*"]
    with pytest.raises(AddressRefused, match=r"inside a network|has no address"):
        checked_target(f"https://{host}/")


def test_address_is_checked_again_when_a_message_is_sent(settings, monkeypatch, receiver) -> None:
    """The name led elsewhere when it was saved: nothing is sent to where it leads now."""
    settings.WEBHOOK_PRIVATE_HOSTS, settings.WEBHOOK_HOSTS = [], ["*"]
    leads_to(monkeypatch, "127.0.0.1")
    outcome = sending.send_message(f"https://moved.example.org:{receiver.port}/", "s", "test", "1", b"{}")
    assert (outcome.status, "inside a network" in outcome.problem, receiver.got) == (None, True, [])


def test_connection_goes_to_the_address_that_was_checked(settings, monkeypatch, receiver) -> None:
    """A name that nothing resolves: only the checked address can be what is connected to."""
    settings.WEBHOOK_PRIVATE_HOSTS = ["internal.invalid"]
    asked = []
    monkeypatch.setattr(addresses, "_resolve", lambda host, port: asked.append(host) or ["127.0.0.1"])
    outcome = sending.send_message(f"http://internal.invalid:{receiver.port}/", "s", "test", "1", b"{}")
    (path, headers, _) = receiver.got[0]
    assert (outcome.arrived, path, headers["Host"], asked) == (
        True,
        "/",
        f"internal.invalid:{receiver.port}",
        ["internal.invalid"],
    )

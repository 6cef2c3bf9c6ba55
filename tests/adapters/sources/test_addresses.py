"""Which hosts are asked, and at which of their addresses."""

import socket

import pytest

from bio_mcp.adapters.sources import checked_url, is_public, public_addresses
from bio_mcp.errors import Forbidden, InvalidInput, UpstreamFailed

ALLOWED = ["papers.example.org", "*.journal.example", "cdn.example.org:8443", "[2001:4860::1]"]


@pytest.mark.parametrize(
    ("url", "fetched"),
    [
        ("https://papers.example.org/a.pdf?x=1#page=3", "https://papers.example.org/a.pdf?x=1"),
        ("HTTPS://Papers.Example.ORG./a.pdf", "https://papers.example.org/a.pdf"),
        ("https://papers.example.org:443/a.pdf", "https://papers.example.org/a.pdf"),
        ("https://papers.example.org", "https://papers.example.org/"),
        ("https://www.journal.example/a%20b.pdf", "https://www.journal.example/a%20b.pdf"),
        ("https://cdn.example.org:8443/a.pdf", "https://cdn.example.org:8443/a.pdf"),
        ("https://[2001:4860::1]/a.pdf", "https://[2001:4860::1]/a.pdf"),
    ],
)
def test_an_address_of_an_allowed_host_has_one_form(url, fetched):
    assert checked_url(url, ALLOWED).geturl() == fetched


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/a.pdf",
        "https://papers.example.org.evil.example/a.pdf",
        "https://evilpapers.example.org/a.pdf",
        "https://journal.example/a.pdf",
        "https://evil-journal.example/a.pdf",
        "https://papers.example.org:8443/a.pdf",
        "https://cdn.example.org/a.pdf",
        "https://127.0.0.1/a.pdf",
        "https://[::1]/a.pdf",
        "https://localhost/a.pdf",
        "https://evil.example/?papers.example.org",
        "https://pаpers.example.org/a.pdf",  # a Cyrillic letter
    ],
)
def test_any_other_host_is_refused_with_the_setting_that_would_allow_it(url):
    with pytest.raises(Forbidden, match="BIO_MCP_INGEST_HOSTS"):
        checked_url(url, ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "http://papers.example.org/a.pdf",
        "ftp://papers.example.org/a.pdf",
        "https://",
        "https:///a.pdf",
        "https://user:secret@papers.example.org/a.pdf",
        "https://papers.example.org@evil.example/a.pdf",
        "https://papers.example.org\\@evil.example/a.pdf",
        "https://papers.example.org/a\r\nHost: evil.example",
        "https://papers.example.org/a b.pdf",
        "https://papers.example.org:99999/a.pdf",
        "https://papers.example.org:x/a.pdf",
        "https://[::1/a.pdf",
        "https://papers..example.org/a.pdf",
        "https://papers.example.org/\N{RIGHT-TO-LEFT OVERRIDE}",
        "https://papers.example.org/" + "a" * 3_000,
    ],
)
def test_what_is_no_https_address_or_has_a_password_is_refused(url):
    with pytest.raises(InvalidInput):
        checked_url(url, ALLOWED)


def test_without_allowed_hosts_none_is_asked():
    with pytest.raises(Forbidden):
        checked_url("https://papers.example.org/a.pdf", [])


PRIVATE = """127.0.0.1 127.8.8.8 0.0.0.0 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 192.0.2.1 198.18.0.1
224.0.0.1 255.255.255.255 :: ::1 fe80::1 fe80::1%eth0 fd00:ec2::254 fc00::1 ff02::1 2001:db8::1 ::ffff:127.0.0.1
::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 2002:7f00:1:: 2002:a00:1:: nonsense
::127.0.0.1 ::8.8.8.8 64:ff9b:1::7f00:1 64:ff9b:1::808:808 ::ffff:0:127.0.0.1 fec0::1 5f00::1 3fff::1 100::1
2a00:1450::5efe:7f00:1 2a00:1450::200:5efe:a00:1 2001:0:0:0:0:0:80ff:fffe 192.88.99.1 192.0.0.192
168.63.129.16""".split()


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_not_everybody_may_have_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["93.184.215.14", "8.8.8.8", "2606:2800:21f::1", "::ffff:8.8.8.8", "64:ff9b::808:808", "2a00:1450::5efe:808:808"],
)
def test_addresses_of_the_internet_are_public(address):
    assert is_public(address)


SHORT = ["127.1", "2130706433", "0x7f.1", "0177.0.0.1", "①27.0.0.1"]


@pytest.mark.parametrize("host", SHORT)
def test_an_address_of_this_machine_in_another_notation_is_private(host):
    name = checked_url(f"https://{host}/", None).hostname
    with pytest.raises(Forbidden, match="private address"):
        public_addresses(name, 443)


def test_any_host_may_be_asked_where_none_is_named_and_its_form_is_checked_all_the_same():
    assert checked_url("https://Client.Example/a#b", None).geturl() == "https://client.example/a"
    for url in ("http://client.example/a", "https://user@client.example/a"):
        with pytest.raises(InvalidInput):
            checked_url(url, None)


def resolving(*addresses):
    def resolve(_host, port, **_):
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]

    return resolve


def test_a_host_with_one_private_address_among_others_is_refused():
    assert public_addresses("x", 443, resolving("8.8.8.8", "8.8.8.8")) == ["8.8.8.8"]
    with pytest.raises(Forbidden, match="private address"):
        public_addresses("x", 443, resolving("8.8.8.8", "127.0.0.1"))
    with pytest.raises(Forbidden):
        public_addresses("x", 443, resolving())


def test_a_host_that_is_unknown_is_a_failure_without_its_name():
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(UpstreamFailed) as failed:
        public_addresses("papers.example.org", 443, unknown)
    assert "papers" not in str(failed.value)

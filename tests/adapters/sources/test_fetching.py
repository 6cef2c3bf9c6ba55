"""What a client names by address is fetched from any public host, in little time and few bytes, by no detour."""

import socket
import ssl

import pytest

from bio_mcp.adapters.sources import GuardedFetch
from bio_mcp.errors import InvalidInput, UpstreamFailed
from tests.adapters.sources.tls_server import HOST


def resolving(*answers):
    """A resolver that answers with one address after the other, as one that rebinds does."""
    left = list(answers)
    return lambda _host, port, **_: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (left.pop(0), port))]


@pytest.fixture
def fetch(host, files):
    """`fetch(path)` fetches it from the host, with other options where they are given."""

    def fetch(path, **options):
        context = ssl.create_default_context(cafile=str(files[0]))
        given = {"max_bytes": 5 << 10, "whole_s": 5, "private": True, "resolve": resolving("127.0.0.1")}
        made = GuardedFetch(None, context=context, **{**given, **options})
        return made.fetch(f"https://{HOST}:{host.server_port}{path}")

    return fetch


def test_any_host_is_asked_where_none_is_named(fetch, host):
    assert fetch("/client.json") == b"%PDF a document"
    assert host.seen == [("/client.json", f"{HOST}:{host.server_port}", "identity")]


def test_no_redirect_is_followed_unless_some_are_allowed(fetch, host):
    with pytest.raises(InvalidInput, match="not followed"):
        fetch("/moved")
    assert len(host.seen) == 1
    assert fetch("/moved", redirects=1, resolve=resolving("127.0.0.1", "127.0.0.1")) == b"%PDF a document"


def test_the_host_of_a_redirect_is_looked_up_and_its_address_checked_like_the_first(fetch, host):
    asked = []

    def resolve(name, port, **_):
        asked.append(name)
        return resolving("127.0.0.1" if name == HOST else "nowhere")(name, port)

    with pytest.raises(UpstreamFailed):
        fetch("/to-inside", redirects=1, resolve=resolve)
    assert asked == [HOST, "inside.example.org"]

"""Hosts and origins, as settings write them."""

import pytest

from bio_mcp.doors.mcp.http import Hosts, Origins
from bio_mcp.errors import Misconfigured


@pytest.mark.parametrize(
    ("pattern", "served", "others"),
    [
        ("mcp.example.org", ["mcp.example.org", "MCP.EXAMPLE.ORG"], ["mcp.example.org:443", "xmcp.example.org", ""]),
        ("mcp.example.org:8443", ["mcp.example.org:8443"], ["mcp.example.org", "mcp.example.org:84430"]),
        ("localhost:*", ["localhost", "localhost:3010"], ["localhost:", "localhost:x", "localhost:3010@evil.example"]),
        ("[::1]:*", ["[::1]", "[::1]:3010"], ["::1", "[::2]"]),
        ("*.example.org", ["a.example.org", "a.b.example.org"], ["example.org", "aexample.org", ".example.org"]),
        ("*.example.org:*", ["a.example.org:80"], ["a.example.org.evil.example:80", "a/b.example.org"]),
        ("192.0.2.7", ["192.0.2.7"], ["192.0.2.70", "192x0.2.7"]),
    ],
)
def test_a_pattern_serves_what_it_says(pattern, served, others):
    hosts = Hosts([pattern])
    assert [each for each in served if each not in hosts] == []
    assert [each for each in [*others, f"{served[0]}\n", f"{served[0]} "] if each in hosts] == []


@pytest.mark.parametrize(
    "odd", ["*", "*.", "*:*", "https://mcp.example.org", "mcp.example.org/mcp", "a.*.org", "a b", ""]
)
def test_what_is_no_host_is_refused(odd):
    with pytest.raises(Misconfigured, match="MCP_ALLOWED_HOSTS holds"):
        Hosts([odd])


@pytest.mark.parametrize(
    "odd", ["*", "https://*.example.org", "https://a.example.org/", "a.example.org", "null", "HTTPS://a"]
)
def test_what_is_no_origin_is_refused(odd):
    with pytest.raises(Misconfigured, match="MCP_ALLOWED_ORIGINS holds"):
        Origins([odd])


def test_an_origin_is_its_scheme_its_host_and_its_port():
    origins = Origins(["https://app.example.org", "vscode-webview://abc"], also=r"http://localhost(:\d+)?")
    assert all(each in origins for each in ("https://app.example.org", "http://localhost:1", "vscode-webview://abc"))
    others = ("http://app.example.org", "https://app.example.org:444", "http://localhost:1.evil.example", "null", "")
    assert [each for each in others if each in origins] == []

"""Where a client may have people sent back to."""

import pytest

from bio_mcp.doors.auth.clients import comparable, host_of, is_allowed

GOOD = [
    ("https://claude.ai/api/mcp/auth_callback", "claude.ai"),
    ("https://client.example:8443/a?b=c", "client.example"),
    ("http://127.0.0.1:1/cb", "this computer"),
    ("http://localhost/cb", "this computer"),
    ("http://[::1]:7/cb", "this computer"),
    ("cursor://anysphere.cursor-mcp/oauth/callback", "the program cursor"),
    ("com.example.app:/oauth", "the program com.example.app"),
]


@pytest.mark.parametrize(("uri", "told"), GOOD)
def test_an_address_that_is_allowed_is_named_to_the_person(uri, told):
    assert (is_allowed(uri), host_of(uri)) == (True, told)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "x",
        "/back",
        "//evil.example",
        "http://client.example",
        "http://192.168.0.1/",
        "http://localhost.evil.example/",
        "https:///back",
        "https://client.example/\\evil",
        "https://client.example/a b",
        "https://client.example/#",
        "https://clïent.example/",
        "https://a@client.example/",
        "https://client.example:x/",
        "https://client.example:99999/",
        "https://client|example/",
        "https://xn--/",
        "https://256.256.256.256/",
        "https://[::1/",
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "unknown://x",
        "https://client.example/" + "x" * 500,
    ],
)
def test_others_are_not(uri):
    assert not is_allowed(uri)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb", True),
        ("http://[::1]:1/cb", "http://[::1]:2/cb", True),
        ("http://localhost:1/cb", "http://127.0.0.1:1/cb", False),
        ("http://127.0.0.1:1/cb", "http://127.0.0.1:1/other", False),
        ("https://127.0.0.1:1/cb", "https://127.0.0.1:2/cb", False),
        ("https://client.example", "https://client.example/", True),
        ("https://client.example:1/cb", "https://client.example:2/cb", False),
    ],
)
def test_the_port_of_loopback_alone_makes_no_difference(one, other, same):
    assert (comparable(one) == comparable(other)) == same

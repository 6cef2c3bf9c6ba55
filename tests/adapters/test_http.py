"""What the environment tells HTTP clients, and gets wrong."""

import pytest

from bio_mcp.adapters.http import http_client, trusted
from bio_mcp.errors import Misconfigured


@pytest.fixture(autouse=True)
def no_certificates_read():
    trusted.cache_clear()
    yield
    trusted.cache_clear()


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", "names a SOCKS proxy"),
        ("HTTPS_PROXY", "gopher://127.0.0.1:9", "is not the address of a proxy"),
        ("HTTP_PROXY", "http://[::1", "is not the address of a proxy"),
        ("SSL_CERT_FILE", "/nonexistent/certificates.pem", "names no certificates that can be read"),
        ("SSL_CERT_FILE", "/dev/null", "names no certificates that can be read"),
    ],
)
def test_an_environment_that_cannot_be_followed_is_explained(monkeypatch, variable, value, says):
    monkeypatch.setenv(variable, value)
    with pytest.raises(Misconfigured, match=says):
        http_client()


def test_certificates_are_read_once_for_all_clients(monkeypatch):
    with http_client():
        monkeypatch.setenv("SSL_CERT_FILE", "/nonexistent/certificates.pem")
        http_client().close()

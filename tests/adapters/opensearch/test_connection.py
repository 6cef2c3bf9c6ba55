import ssl

import pytest

from bio_mcp.adapters.opensearch.client import OpenSearchTransport, client
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import IndexUnavailable, Misconfigured


def test_an_address_that_is_not_there_is_in_no_log(caplog):
    transport = OpenSearchTransport(client("http://someone:hunter2@127.0.0.1:9/base"), backoff=Backoff(tries=1))
    with pytest.raises(IndexUnavailable, match="cannot be reached") as raised:
        transport.ask("GET", "/x")
    for secret in ("hunter2", "someone", "127.0.0.1", "base"):
        assert secret not in str(raised.value)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert not caplog.records


@pytest.mark.parametrize(
    "url", ["search-domain.eu-west-1.es.amazonaws.com", "ftp://host.example", "https://", "http://host.example:port"]
)
def test_an_address_that_is_none_is_refused(url):
    with pytest.raises(Misconfigured, match="BIO_MCP_OPENSEARCH_URL is not an http address"):
        client(url)


def test_a_domain_has_to_prove_its_name_by_a_certificate():
    asked = client("https://host.example/base/").get_connection()
    assert asked.host == "https://host.example:443"
    assert asked.url_prefix == "/base"
    tls = asked.pool.conn_kw["ssl_context"]
    assert (tls.verify_mode, tls.check_hostname) == (ssl.CERT_REQUIRED, True)

"""Documents are fetched over https, from allowed hosts or any public one, whatever their answers try."""

import socket
import ssl

import pytest

from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.sources import REDIRECTS, WebFiles
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Forbidden, InvalidInput, UnreadableDocument, UpstreamFailed
from bio_mcp.scope import bounded_by
from tests.adapters.sources.tls_server import HOST


@pytest.fixture
def web(host, files):
    """`web(path)` fetches it from the host; `web.made(...)` makes it with other options."""
    trusted = ssl.create_default_context(cafile=str(files[0]))
    names = [f"{HOST}:{host.server_port}", f"inside.example.org:{host.server_port}"]

    def resolve(name, port, **_):
        resolve.asked.append(name)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    resolve.asked = []

    def made(**options):
        given = {"hosts": names, "private": True, "context": trusted, "resolve": resolve, "max_bytes": 1 << 20}
        return WebFiles(backoff=Backoff(tries=2, first_s=0, cap_s=0), **{**given, **options})

    def fetch(path, **options):
        return made(**options).read(f"https://{HOST}:{host.server_port}{path}", local=False)

    fetch.made, fetch.resolve = made, resolve
    return fetch


def test_a_document_is_fetched_by_its_hosts_name_at_the_address_that_was_checked(web, host):
    assert web("/a.pdf?version=2") == b"%PDF a document"
    assert host.seen == [("/a.pdf?version=2", f"{HOST}:{host.server_port}", "identity")]
    assert web.resolve.asked == [HOST]


def test_the_name_of_a_document_is_the_end_of_its_address(web, host):
    made = web.made()
    for path, name in (("/x/a%20b.pdf?y=1", "a b.pdf"), ("/", HOST), ("/%2e%2e%2fpasswd", "passwd")):
        [file] = made.files(made.locate(f"https://{HOST}:{host.server_port}{path}", local=False), local=False)
        assert file.name == name


@pytest.mark.parametrize("path", ["/moved", "/moved-absolute"])
def test_a_redirect_within_the_allowed_hosts_is_followed(web, path):
    assert web(path) == b"%PDF a document"


def test_a_redirect_to_another_host_or_to_what_is_no_https_address_is_refused(web, host):
    for path in ("/to-http", "/to-password", "/to-file"):
        with pytest.raises(InvalidInput):
            web(path)
    for path in ("/to-elsewhere", "/to-metadata"):
        with pytest.raises(Forbidden, match="BIO_MCP_INGEST_HOSTS"):
            web(path)
    assert len(host.seen) == 5


def test_redirects_without_an_end_are_not_followed(web, host):
    with pytest.raises(InvalidInput, match="without an end"):
        web("/loop")
    assert len(host.seen) == REDIRECTS + 1


def test_a_host_with_a_private_address_is_not_connected_to(web, host):
    with pytest.raises(Forbidden, match="private address"):
        web("/a.pdf", private=False)
    assert host.seen == []


def test_a_certificate_of_another_name_or_that_nobody_vouches_for_is_refused(web, host):
    with pytest.raises(UpstreamFailed, match="could not be reached"):
        web.made().read(f"https://inside.example.org:{host.server_port}/a.pdf", local=False)
    with pytest.raises(UpstreamFailed):
        web("/a.pdf", context=ssl.create_default_context())
    assert host.seen == []


@pytest.mark.parametrize("path", ["/endless", "/bomb"])
def test_an_answer_is_read_up_to_its_limit_whatever_length_it_states(web, path):
    with pytest.raises(UnreadableDocument, match="larger than 1 MB"):
        web(path)


def test_an_answer_shorter_than_its_stated_length_is_a_failure(web, host):
    with pytest.raises(UpstreamFailed, match="broke off"):
        web("/shorter")
    assert len(host.seen) == 2


@pytest.mark.parametrize("path", ["/slow", "/slow-headers"])
def test_an_answer_that_drips_ends_with_the_time(web, path):
    with pytest.raises(UpstreamFailed, match="did not come within"):
        web(path, whole_s=0.3)
    with bounded_by(Deadline(0.3)), pytest.raises(DeadlineExceeded):
        web(path)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_host_that_refuses_gives_a_reason_and_is_not_asked_again(web, host, status):
    with pytest.raises(InvalidInput, match=f"answers {status}") as refused:
        web(f"/status/{status}")
    assert HOST not in str(refused.value)
    assert len(host.seen) == 1


def test_a_host_that_is_busy_is_asked_again(web, host):
    assert web("/busy-once") == b"%PDF a document"
    with pytest.raises(UpstreamFailed, match="answers 503"):
        web("/status/503")


def test_a_proxy_of_the_environment_is_not_used(web, monkeypatch):
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert web("/a.pdf") == b"%PDF a document"


def test_any_host_is_asked_where_none_is_named(web, host):
    assert web("/client.json", hosts=None) == b"%PDF a document"
    assert host.seen == [("/client.json", f"{HOST}:{host.server_port}", "identity")]


def test_no_redirect_is_followed_unless_some_are_allowed(web, host):
    with pytest.raises(InvalidInput, match="not followed"):
        web("/moved", redirects=0)
    assert len(host.seen) == 1
    assert web("/moved", redirects=1) == b"%PDF a document"


def test_the_host_of_a_redirect_is_looked_up_and_its_address_checked_like_the_first(web):
    with pytest.raises(UpstreamFailed):
        web("/to-inside", hosts=None, redirects=1)
    assert web.resolve.asked == [HOST, "inside.example.org"] * 2  # tried twice

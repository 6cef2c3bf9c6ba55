"""A file that a tool made, as an MCP client is sent it: a link in the answer, and a resource with the file's text."""

from datetime import date

import pytest

from bio_mcp.doors.mcp import http as mcp_http
from bio_mcp.doors.mcp import server as mcp_server
from bio_mcp.tools.exports import export_papers, exported_file, exported_part
from tests.doors.serving import running
from tests.doors.wire import post
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article
from tests.syncing.stored import documents_of


@pytest.fixture
def url(tmp_path):
    with Corpus(tmp_path, day=date(2026, 1, 1)) as corpus:
        corpus.documents.put(documents_of(article("7", "Crème brûlée.")))
        invoke = mcp_server.in_process(corpus)
        app = mcp_http.serving(mcp_server.server([export_papers], [exported_file, exported_part], invoke))
        with running(app) as base:
            yield f"{base}/mcp"


def called(url, **arguments):
    params = {"name": "exportPapers", "arguments": {"format": "csl-json", **arguments}}
    return post(url, "tools/call", params).json()["result"]


def test_an_answer_links_the_file_which_is_read_as_its_own_text(url):
    answer = called(url, pmids=["7"])
    [link] = [each for each in answer["content"] if each["type"] == "resource_link"]
    file = answer["structuredContent"]["file"]
    assert (link["uri"], link["name"], link["mimeType"]) == (file["uri"], file["name"], file["mime_type"])
    [content] = post(url, "resources/read", {"uri": link["uri"]}).json()["result"]["contents"]
    assert content["mimeType"] == "application/vnd.citationstyles.csl+json"
    assert '"title": "Crème brûlée"' in content["text"]
    assert link["size"] == len(content["text"].encode())


def test_an_answer_without_a_file_links_nothing(url):
    assert [each["type"] for each in called(url, pmids=["7"], query="both")["content"]] == ["text"]


@pytest.mark.parametrize("uri", ["export://nobody", "export://../x", "export://a/1"])
def test_a_file_that_is_not_there_is_an_error_of_the_protocol(url, uri):
    assert "error" in post(url, "resources/read", {"uri": uri}).json()

"""Subsegments as the X-Ray daemon of Lambda receives them: of a search, a sync and an ingest, and their requests."""

import json
import re
import socket
from collections import Counter
from contextlib import closing
from dataclasses import replace

import httpx
import pytest

from bio_mcp import tracing
from bio_mcp.adapters.http import http_client
from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.doors.aws.xray import MOST, XRay
from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.tools import get_doc, ingest, search
from tests.adapters.opensearch.fake import Scripted
from tests.doors.lambda_bridge import context
from tests.doors.test_sync_on_aws import Cloud
from tests.support.aws_corpus import Roomy
from tests.support.aws_ports import MotoPorts, client
from tests.support.corpus import Over

TRACE, SEGMENT = "1-5759e988-bd862e3fe1be46a994272793", "53995c3f42cd8ad8"
SECRETS = ("myocardial", "quokka", "inbox/", "test@example.org", "2021/06/02")
ALLOWED = re.compile(r"[\w\s.:/%&#=+\-@]{1,200}")
"""A segment's name: https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html"""


class Daemon:
    """Receives what functions send; `subsegments` empties it."""

    def __init__(self, received):
        self.received = received
        self.address = "{}:{}".format(*received.getsockname())

    def subsegments(self):
        found = []
        self.received.settimeout(0.2)
        try:
            while True:
                header, _, document = self.received.recv(65_536).partition(b"\n")
                assert json.loads(header) == {"format": "json", "version": 1}
                found.append(json.loads(document))
        except TimeoutError:
            return found


@pytest.fixture
def daemon(monkeypatch):
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as received:
        received.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        received.bind(("127.0.0.1", 0))
        made = Daemon(received)
        monkeypatch.setenv("AWS_XRAY_DAEMON_ADDRESS", made.address)
        monkeypatch.setenv("BIO_MCP_TRACE_CALLS", "on")
        monkeypatch.setenv("_X_AMZN_TRACE_ID", f"Root={TRACE};Parent={SEGMENT};Sampled=1")
        yield made
        tracing.record(None)


@pytest.fixture
def cloud(nobody, ncbi, daemon):
    ncbi.control.set_today("2026/01/01")
    client.cache_clear()  # its clients are made before and with spans
    with closing(MotoPorts()) as made:
        cloud = Cloud(made, ncbi.base_url)
        yield cloud
        cloud.corpus.close()


def traced(daemon, tool):
    """The subsegment of the one call of `tool`, and those of its requests by what they asked; others are those of the
    queue, before the call, and of the log of calls, after it."""
    found = daemon.subsegments()
    [call] = [each for each in found if each["name"] == tool]
    beside = [each for each in found if each["parent_id"] == SEGMENT and each is not call]
    assert all(each["name"] == "SQS" or each["aws"]["table_name"].endswith("-CallsTable") for each in beside)
    found = [each for each in found if each not in beside]
    requests = [each for each in found if each is not call]
    own = {"tool": tool, "correlation_id": call["annotations"]["correlation_id"]}
    assert (call["parent_id"], call["type"]) == (SEGMENT, "subsegment")
    for each in found:
        assert each["trace_id"] == TRACE
        assert ALLOWED.fullmatch(each["name"])
        assert call["start_time"] <= each["start_time"] <= each["end_time"] <= call["end_time"]
        assert each["annotations"].items() >= own.items()
    assert {each["parent_id"] for each in requests} == {call["id"]}
    assert len({each["id"] for each in found}) == len(found)
    assert not [each for each in SECRETS if each in json.dumps(found)]
    return call, Counter((each["name"], operation(each), each.get("aws", {}).get("table_name")) for each in requests)


def operation(subsegment):
    return (subsegment.get("aws") or subsegment["annotations"])["operation"]


def test_a_sync_shows_each_request_to_ncbi_dynamodb_sqs_and_the_bus(cloud, daemon):
    cloud.schedule()
    record = cloud.receive()
    daemon.subsegments()
    assert cloud.deliver(record)
    call, requests = traced(daemon, "pubmed.sync_delta")
    assert call["annotations"]["correlation_id"] == record["messageId"]
    documents, leases = cloud.made.table("DocumentsTable"), cloud.made.table("LeasesTable")
    assert requests["127.0.0.1", "esearch.fcgi", None]
    assert {table for service, _, table in requests if service == "DynamoDB"} >= {documents, leases}
    assert requests["SQS", "SendMessage", None] == 1  # of its continuation


def test_a_search_shows_its_requests_and_what_is_not_sampled_shows_nothing(cloud, daemon, monkeypatch):
    handler = handler_for(search, lambda: cloud.corpus)
    asked = {"tool": "rag.search", "arguments": {"query": "myocardial infarction"}, "correlation_id": "a night call"}
    cloud.schedule()
    cloud.run()
    daemon.subsegments()
    assert handler(asked, context())["results"] is not None
    call, requests = traced(daemon, "rag.search")
    assert call["annotations"]["correlation_id"] == "a night call"
    assert {service for service, *_ in requests} == {"DynamoDB"}
    for header in (f"Root={TRACE};Parent={SEGMENT};Sampled=0", ""):
        monkeypatch.setenv("_X_AMZN_TRACE_ID", header)
        handler(asked, context())
        assert daemon.subsegments() == []


def test_an_ingest_shows_its_requests_to_s3_without_the_name_of_the_file(cloud, daemon):
    bucket = cloud.corpus.settings.bucket
    client("s3").put_object(Bucket=bucket, Key="inbox/lab/quokka.md", Body=b"# Quokkas\n\nThey rest at noon.")
    cloud.corpus.settings = replace(cloud.corpus.settings, ingest_buckets=(bucket,))
    corpus = Over(cloud.corpus, collections=Roomy())
    create_project("lab", Options(), corpus)
    handler = handler_for(ingest, lambda: corpus)
    given = {"project": "lab", "source": f"s3://{bucket}/inbox/lab/quokka.md"}
    daemon.subsegments()
    answer = handler({"tool": "ingest_from_source", "arguments": given}, context(60_000))
    assert answer.get("state") == "complete", answer
    _, requests = traced(daemon, "ingest_from_source")
    assert requests["S3", "GetObject", None]
    assert {service for service, *_ in requests} == {"S3", "DynamoDB"}


def test_a_failure_is_a_fault_of_its_kind_and_of_the_call(cloud, daemon):
    cloud.corpus.settings = replace(cloud.corpus.settings, table_documents="there-is-none")
    handler = handler_for(get_doc, lambda: cloud.corpus)
    handler({"tool": "rag.get", "arguments": {"doc_id": "pmid:1"}}, context())
    found = {each["name"]: each for each in daemon.subsegments()}
    assert found["DynamoDB"]["cause"]["exceptions"][0]["type"] == "ResourceNotFoundException"
    assert found["DynamoDB"]["http"]["response"]["status"] == 400
    assert found["rag.get"]["fault"]
    assert found["rag.get"]["cause"]["exceptions"][0]["type"] == "StoreFailed"


def test_requests_to_opensearch_and_by_http_are_timed_until_their_answer_is_read(daemon, ncbi):
    tracing.record(XRay(daemon.address, lambda: f"Root={TRACE};Parent={SEGMENT};Sampled=1"))
    with tracing.call_span("rag.search", "a night call"):
        Scripted((200, {"took": 1})).transport().ask("GET", "/papers/_msearch?query=quokka")
    asked, call = daemon.subsegments()
    assert (asked["name"], operation(asked), asked["parent_id"]) == ("OpenSearch", "_msearch", call["id"])
    assert asked["annotations"].items() >= {"tool": "rag.search", "correlation_id": "a night call"}.items()
    with http_client() as http:
        with http.stream("POST", f"{ncbi.base_url}efetch.fcgi", data={"db": "pubmed", "id": "1"}) as answer:
            assert daemon.subsegments() == []  # nothing yet of what is not read
            answer.read()
        with pytest.raises(httpx.ConnectError):
            http.get("http://127.0.0.1:9/quokka")
    efetch, refused = daemon.subsegments()
    assert (operation(efetch), efetch["namespace"], efetch["parent_id"]) == ("efetch.fcgi", "remote", SEGMENT)
    assert refused["cause"]["exceptions"][0]["type"] == "ConnectError"
    assert "quokka" not in json.dumps(refused)


def test_a_trace_has_no_more_requests_than_x_ray_keeps_and_says_how_many_it_lacks(daemon):
    tracer = XRay(daemon.address, lambda: f"Root={TRACE};Parent={SEGMENT};Sampled=1")
    with tracer.call("pubmed.sync_delta", "long"):
        for _ in range(MOST + 7):
            tracer.request("SQS", "SendMessage", {})("", {})
    found = daemon.subsegments()
    assert len(found) == MOST + 1
    assert found[-1]["metadata"] == {"bio_mcp": {"requests_left_out": 7}}
    assert sum(len(json.dumps(each)) for each in found) < 500_000

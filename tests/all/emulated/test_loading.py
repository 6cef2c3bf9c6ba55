"""A bulk load of twenty files of real records, whose functions, files, connections and index fail on the way."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest

from bio_mcp.literature.medline import open_records
from bio_mcp.syncing.applying import apply_records
from tests.emulated.stack import until
from tests.support.corpus import Corpus
from tests.support.nlm_files import md5_file_of

pytestmark = pytest.mark.timeout(900)

DAMAGED, CUT, BUSY, BROKEN_OFF = (f"pubmed26n{number:04}.xml.gz" for number in (1, 5, 7, 9))
REFUSALS = 18  # of writes: two functions are refused at a time, and each tries six times before it pauses


class Refusing:
    def __init__(self, url, refusals):
        self.behind, self.left, self.refused = url, refusals, 0

    def answer(self, request):
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        if self.left and request.path.split("?")[0].endswith("_bulk"):
            self.left -= 1
            self.refused += 1
            return self._send(request, 429, b'{"error": {"type": "rejected_execution_exception"}, "status": 429}')
        kind = {"content-type": request.headers.get("content-type", "application/json")}
        got = httpx.request(request.command, self.behind + request.path, content=body, headers=kind, timeout=60)
        return self._send(request, got.status_code, got.content)

    def _send(self, request, status, content):
        request.send_response(status)
        request.send_header("content-type", "application/json")
        request.send_header("content-length", str(len(content)))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(content)


@contextmanager
def before_the_index(url, refusals):
    refusing = Refusing(url, refusals)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            refusing.answer(self)

        do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815  as http.server calls them

        def log_message(self, *_):
            """Nobody reads it."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield refusing, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def expected(nlm, tmp_path_factory):
    """What the files leave when they are imported one after the other: PMID -> hash of the content."""
    with Corpus(tmp_path_factory.mktemp("expected")) as corpus:
        for path in sorted(nlm.directory.glob("*/*.xml.gz"), key=lambda path: path.name):
            apply_records(open_records(path), corpus)
        heads = corpus.documents.heads(list(corpus.documents.pmids()))
        return {pmid: head.content_hash for pmid, head in heads.items()}


@pytest.fixture(scope="module")
def mended(nlm, expected):
    """The file that NLM published cut short, with the MD5 of the half, and what mends that."""
    path = nlm.directory / "baseline" / CUT
    whole, md5 = path.read_bytes(), path.with_name(f"{CUT}.md5")
    said = md5.read_text()
    path.write_bytes(whole[: len(whole) // 2])
    md5.write_text(md5_file_of(CUT, path.read_bytes()))

    def mend():
        path.write_bytes(whole)
        md5.write_text(said)

    return mend


def stored(stack, pmids):
    items = stack.items("DocumentsTable")
    return {item["pmid"]["S"]: item for item in items if item["pmid"]["S"] in pmids}


def indexed(up, pmids):
    """PMID -> version of the papers that the index has, without tombstones; a search of their ids, so that none is
    there twice."""
    asked = {"size": 1_000, "query": {"ids": {"values": sorted(pmids)}}, "_source": ["version", "passages"]}
    hits = httpx.post(f"{up.search.url}/pubmed_chunk/_search", json=asked, timeout=10).json()["hits"]["hits"]
    assert len(hits) == len({hit["_id"] for hit in hits})
    return {hit["_id"]: hit["_source"]["version"] for hit in hits if "passages" in hit["_source"]}


def status(stack, code=0):
    return stack.command("admin", "load", "status", code=code)


def ended(stack, code=0):
    """The status of the latest load, once it has ended, while nothing more goes wrong."""
    machine = stack.client("stepfunctions")
    [arn] = [each["stateMachineArn"] for each in machine.list_state_machines()["stateMachines"]]
    until(lambda: not machine.list_executions(stateMachineArn=arn, statusFilter="RUNNING")["executions"], 600, "end")
    return status(stack, code)


def dying(up, bucket):
    """Kill the function once at each stage, as soon as it has something to show for it."""
    s3 = up.stack.client("s3")
    for folder in ("load/files/", "load/lists/", "load/runs/", "load/done/"):

        def begun(folder=folder):
            found = s3.list_objects_v2(Bucket=bucket, Prefix=folder).get("Contents", [])
            return [each for each in found if folder != "load/runs/" or "/left-out/" in each["Key"]]

        until(begun, 300, f"file in {folder}")
        until(lambda: up.emulator.workers("-load"), 60, "function that runs")
        up.emulator.kill_workers("-load")


@pytest.fixture(scope="module")
def loads(up, nlm, mended):
    """Two loads: one in which everything fails that can, and the next, when files are mended."""
    stack, bucket = up.stack, up.stack.outputs["Bucket"]
    functions, name = stack.client("lambda"), f"{stack.name}-load"
    variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    nlm.damaged[f"baseline/{DAMAGED}"] = 1_000
    nlm.busy[f"baseline/{BUSY}"] = 2
    nlm.cut[f"baseline/{BROKEN_OFF}"] = 2
    with before_the_index(up.search.url, REFUSALS) as (refusing, url):
        functions.update_function_configuration(
            FunctionName=name, Environment={"Variables": variables | {"BIO_MCP_OPENSEARCH_URL": url}}
        )
        begun = stack.command("admin", "load", "start", "--fetch")
        dying(up, bucket)
        first = ended(stack, code=1)
    functions.update_function_configuration(FunctionName=name, Environment={"Variables": variables})
    nlm.damaged.clear()
    mended()
    stack.client("s3").delete_object(Bucket=bucket, Key=f"load/files/{CUT}.md5")  # or it would not be fetched again
    stack.command("admin", "load", "start", "--fetch")
    second = ended(stack)
    return begun, first, second, refusing


def test_every_record_is_in_exactly_once_whatever_failed(up, loads, expected):
    found = stored(up.stack, expected)
    assert {pmid: item["content_hash"]["S"] for pmid, item in found.items()} == expected
    assert all(item["version"] == item["indexed_version"] for item in found.values())
    assert indexed(up, expected) == {pmid: int(item["version"]["N"]) for pmid, item in found.items()}


def test_what_was_deleted_is_in_neither_store(up, loads, expected, nlm):
    every = {record.pmid for path in nlm.directory.glob("*/*.xml.gz") for record in open_records(path)}
    assert every - expected.keys()
    papers = {pmid for pmid, item in stored(up.stack, every).items() if "gone" not in item}  # others are tombstones
    assert papers == indexed(up, every).keys() == expected.keys()


def test_a_file_that_was_damaged_and_one_that_was_cut_short_are_named_with_why_and_nothing_else(loads):
    begun, first, _, _ = loads
    assert (first["load"], first["state"]) == (begun["load"], "failed")
    reasons = {(each["file"], each["stage"]): each["reason"] for each in first["failed"]}
    assert reasons.keys() == {(DAMAGED, "fetch"), (CUT, "list")}
    assert "does not have the MD5 that NCBI publishes" in reasons[DAMAGED, "fetch"]
    assert "damaged or cut short" in reasons[CUT, "list"]
    assert (first["loaded"], first["left"]) == (18, [])


def test_the_next_load_takes_up_what_failed_alone(loads):
    _, _, second, _ = loads
    assert (second["state"], second["failed"], second["loaded"]) == ("succeeded", [], 2)
    assert second["stages"] == {"fetch": 2, "list": 2, "load": 2}


def test_writes_that_the_index_refused_made_a_pause_and_no_failure(up, loads):
    *_, refusing = loads
    assert refusing.refused == REFUSALS
    assert [line for line in up.stack.log("load") if line.get("message") == "paused"]


def test_a_connection_that_broke_was_gone_on_with_where_it_ended(loads, nlm):
    starts = [start for path, start in nlm.asked if path == f"baseline/{BROKEN_OFF}"]
    assert starts[0] == 0
    assert starts[1] > 0

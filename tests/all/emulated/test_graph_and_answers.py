"""Graph, answers and evaluations of the deployed stack, over MCP and by its operator."""

import time

import pytest

from tests.all.emulated.test_front_door import ERAS, asked, called
from tests.all.emulated.test_projects import Project
from tests.emulated.stack import until
from tests.support.sample_graph import write_graph

pytestmark = pytest.mark.timeout(300)
DONE_S, POLL_S = 400, 1
QUESTION = "Does acarbose attenuate the fall of blood pressure in postprandial hypotension?"


def over_mcp(up, tool, **arguments):
    return called(up.stack, ERAS[0], tool, **arguments)


@pytest.fixture(scope="module")
def herbs(up, tmp_path_factory):
    path = write_graph(tmp_path_factory.mktemp("graph") / "graph.jsonl")
    assert up.stack.command("kg", "import", str(path))["changed"]
    return path


@pytest.fixture(scope="module")
def corpus(up):
    asked = {"query_key": "answers", "term": "hypertension OR blood pressure OR exercise"}

    def synced():
        report = up.stack.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": asked})
        return report["state"] == "complete"

    return until(synced, DONE_S, "corpus")


def test_a_graph_that_an_operator_imported_is_walked_and_read_over_mcp(up, herbs):
    found = over_mcp(up, "query_kg", start={"type": "herb", "id": "H1"}, pattern="herb>constituent>indication")
    assert found["complete"]
    assert found["paths"]
    resource = asked(up.stack, ERAS[0], lambda client: client.read_resource("kg://herb/H1"))
    assert "H1" in resource.contents[0].text


def test_a_question_is_answered_or_withheld_by_quotes_and_an_operator_finds_the_answer(up, corpus):
    given = over_mcp(up, "rag_answer", question=QUESTION)
    assert given["withheld"] == (given["answer"] == "")
    assert given["citations"]
    for each in given["citations"]:
        paper = over_mcp(up, "rag_get", doc_id=each["id"])
        assert each["quote"] in f"{paper['title']} {paper['abstract']}"
    stored = up.stack.command("answer", "--show", given["answer_id"])
    assert [each["quote"] for each in stored["citations"]] == [each["quote"] for each in given["citations"]]


def test_papers_and_herbs_are_searched_together(up, corpus, herbs):
    papers = over_mcp(up, "hybrid_search", query="exercise and blood pressure")["hits"]
    assert any(each.get("pmid") for each in papers)
    named = over_mcp(up, "hybrid_search", query="หญ้าทดสอบ")["hits"]
    assert any("H1" in each["id"] for each in named)


def test_documents_in_the_inbox_are_read_into_the_graph_when_a_call_says_so(up, herbs):
    uri = Project(up.stack).put("plainleaf.md", b"# Results\nPlainleaf is contraindicated in pregnancy.")
    dry = until_done(up, "ingest_run", batch=[{"uri": uri}])
    assert (dry["dry_run"], dry["edges"], dry["failed"]) == (True, 1, 0)
    assert ingested(up) == []
    ran = until_done(up, "ingest_run", batch=[{"uri": uri}], dry_run=False)
    assert ran["edges"] == 1
    [row] = ingested(up)
    assert "Plainleaf is contraindicated in pregnancy." in row["evidence"]
    bucket, key = up.stack.outputs["Bucket"], ran["log_uri"].removeprefix("blob:")
    assert up.stack.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()


def ingested(up):
    return over_mcp(up, "find_contraindications", herb_ids=["Plainleaf"])["results"]


def until_done(up, tool, **arguments):

    def done():
        time.sleep(POLL_S)
        body = asked(up.stack, ERAS[0], lambda client: client.call_tool(tool, arguments)).structured_content
        if "error" in body:  # a first call was too slow, and may still be at work when the next one comes
            assert body["error"]["details"]["retryable"], body
            return None
        return body if body.get("status", body.get("state")) in ("done", "complete") else None

    return until(done, DONE_S, f"end of {tool}")


def test_the_bundled_set_is_evaluated_and_its_report_is_in_the_bucket(up):
    body = until_done(up, "eval_run", set="smoke")
    figures = {each["name"]: each["value"] for each in body["metrics"]}
    assert figures["R@10"] > 0.5
    report = up.stack.client("s3").get_object(Bucket=up.stack.outputs["Bucket"], Key=body["report_uri"])
    assert b"<svg" in report["Body"].read()


def test_a_call_over_mcp_is_recorded_and_gives_the_same_answer_again(up, corpus):
    over_mcp(up, "rag_search", query="exercise and blood pressure", top_k=3)
    listed = up.stack.command("admin", "replay")["calls"]
    [call, *_] = [each for each in listed if each["tool"] == "rag.search"]
    again = up.stack.command("admin", "replay", call["correlation_id"])
    assert (again["equal"], again["as_then"], again["moved"]) == (True, True, [])

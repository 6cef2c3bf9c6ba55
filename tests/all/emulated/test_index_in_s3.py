"""The cheapest stack: what one function publishes in S3, others find, as the laptop's engine finds it."""

from contextlib import closing

import pytest

from bio_mcp.adapters.aws.projects import DynamoProjectDocuments
from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.ingesting import notices
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.project_chunks import Work
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.all.emulated.test_monitoring import USERS_MISS, watching
from tests.emulated.build import build
from tests.emulated.cloud import SAMPLES, cloud
from tests.emulated.schedules import once, scheduled
from tests.emulated.stack import until
from tests.support.scholarly_server.server import serving
from tests.support.scholarly_server.shapes import crossref_work, update

pytestmark = pytest.mark.timeout(300)
FIRST, LATER, AFTER = "1971/02/01", "1971/03/01", "1971/04/01"
OTHERS = {"Monitoring": "basic", "SnapStart": "off", "NightlyNotices": "on"}
ALL_OF_THE_PAPERS = {"top_k": 100, "max_characters": 200_000, "include_weak": True, "explain": True}
QUESTION = {"query": "treatment of depression in adults", **ALL_OF_THE_PAPERS}
SEEN_S = 30  # a copy looks for what is new every ten seconds


@pytest.fixture(scope="module")
def small():
    with cloud(files=SAMPLES, tier="s3", others=OTHERS) as running:
        assert hits(running.stack) == [], "an index that was never written is empty, and no failure"
        yield running, synced(running, FIRST, 40)


def sync_of(day):
    return {"query_key": f"day-{day.replace('/', '-')}", "term": f"{day}:{day}[crdt]", "overlap_days": 5}


def synced(up, day, many):
    wanted = set(map(str, up.ncbi.control.clone(many, day, first=71_000_000 + 1_000 * int(day[5:7]))))
    done = up.stack.invoke("sync_delta", {"tool": "pubmed.sync_delta", "arguments": sync_of(day)})
    assert done["inserted"] == many
    return wanted


def hits(stack):
    """What a search finds; none while the copy is older than the first sync, which the answer says."""
    body = stack.invoke("search", {"tool": "rag.search", "arguments": QUESTION})
    if "error" not in body:
        return body["results"]
    assert "the index has none of them" in body["error"]["message"]
    return []


def pmid_of(hit):
    return hit["doc_id"].removeprefix("pmid:")


def test_another_function_finds_what_a_sync_published_as_a_laptop_does(small, tmp_path):
    up, wanted = small
    until(lambda: set(map(pmid_of, hits(up.stack))) == wanted, SEEN_S, "hit for each paper")
    found = hits(up.stack)
    ncbi = {"ncbi_base_url": up.ncbi.base_url, "models": build().parent / "InferenceLayer/models"}
    with closing(Embedded(Settings(home=tmp_path, **ncbi))) as laptop:
        until(lambda: call(TOOLS["pubmed.sync_delta"], sync_of(FIRST), laptop).body["state"] == "complete", 60, "sync")
        laptops = call(TOOLS["rag.search"], QUESTION, laptop).body["results"]
    assert scores(laptops) == pytest.approx(scores(found), abs=1e-4)  # one thread and two differ in the last bits


def scores(found):
    return {f"{each['uuid']} {name}": each[name] or 0.0 for each in found for name in ("sim", "bm25")}


def test_a_warm_function_finds_what_came_since(small):
    up, _ = small
    until(lambda: hits(up.stack), SEEN_S, "hit")
    added = synced(up, LATER, 20)
    until(lambda: added & set(map(pmid_of, hits(up.stack))), SEEN_S, "hit among what came since")


def test_a_project_is_filled_by_one_function_and_asked_by_another(small):
    up, _ = small
    made = up.stack.command("projects", "create", "lab/in-s3")
    assert made["created"]
    vector = [1.0] + [0.0] * 383
    item = {"id": "note", "text": "Statins lower cholesterol.", "embedding": vector, "metadata": {"doc_id": "note"}}
    stored = {"tool": "store_chunks", "arguments": {"project": "lab/in-s3", "items": [item]}}
    up.stack.invoke("chunks", stored)
    asked = {"tool": "query_hybrid", "arguments": {"project": "lab/in-s3", "text": "statins", "top_k": 3}}
    until(lambda: up.stack.invoke("projects", asked)["items"], SEEN_S, "passage of the note")


def test_the_stack_has_neither_a_snapshot_nor_a_dashboard_and_only_the_alarms_of_what_users_miss(small):
    up, _ = small
    endpoint = up.stack.client("lambda").get_function_configuration(FunctionName=f"{up.stack.name}-mcp_http")
    assert endpoint["SnapStart"]["ApplyOn"] == "None"
    assert watching(up.stack.client, up.stack.name) == (USERS_MISS | {"NoticesSyncAgeAlarm"}, set())


def test_the_stack_has_no_domain_and_doctor_says_as_of_when_its_index_is(small):
    up, _ = small
    kinds = {kind for kind, _ in up.stack.resources().values()}
    assert "AWS::DynamoDB::Table" in kinds
    assert "AWS::OpenSearchService::Domain" not in kinds
    assert "OpenSearchUrl" not in up.stack.outputs
    [finding] = [each for each in up.stack.command("doctor")["checks"] if each["check"] == "index"]
    assert finding["state"] == "ok"
    assert finding["found"].startswith("searched: as of 20")


def folders(stack):
    listed = stack.client("s3").list_objects_v2(Bucket=stack.outputs["Bucket"], Prefix="index/corpus")["Contents"]
    return {each["Key"].split("/")[1] for each in listed}


def test_the_index_is_made_anew_beside_the_old_one_while_functions_search_and_sync(small):
    up, _ = small
    before = {pmid_of(each) for each in until(lambda: hits(up.stack), SEEN_S, "hit")}
    up.stack.command("admin", "reindex", "start", "--force")
    added = synced(up, AFTER, 10)
    until(lambda: before | added <= set(map(pmid_of, hits(up.stack))), SEEN_S, "hit for each paper")
    states = {each["role"]: each for each in up.stack.command("admin", "reindex", "status")["indexes"]}
    assert (states["next"]["behind"], states["next"]["papers"]) == (0, states["searched"]["papers"])
    up.stack.command("admin", "reindex", "switch", "--unchecked")
    up.stack.command("admin", "reindex", "remove")
    assert len(folders(up.stack)) == 2
    assert "corpus" not in folders(up.stack)
    later = synced(up, "1971/05/01", 5)
    seen = until(
        lambda: later <= (found := set(map(pmid_of, hits(up.stack)))) and found, SEEN_S, "hit after the switch"
    )
    assert before | added | later <= seen


def test_each_night_crossref_is_asked_about_documents_of_projects_without_a_pmid(small):
    up, _ = small
    stack, doi = up.stack, "10.1000/retracted"
    made = stack.command("projects", "create", "lab/notices")
    assert made["created"]
    documents = DynamoProjectDocuments(stack.client("dynamodb"), stack.table("ProjectDocumentsTable"), lambda: None)
    documents.put("lab/notices", ProjectDocument(Work(f"doi:{doi}", doi=doi), frozenset({f"doi:{doi}"})))
    functions, name = stack.client("lambda"), f"{stack.name}-sync_delta"
    variables = functions.get_function_configuration(FunctionName=name)["Environment"]["Variables"]
    with serving() as crossref:
        crossref.works[doi] = crossref_work(doi, update("retraction"))
        there = {**variables, "BIO_MCP_CROSSREF_URL": crossref.settings["crossref_url"]}
        functions.update_function_configuration(FunctionName=name, Environment={"Variables": there})
        once(stack.client("scheduler"), scheduled(stack, notices.QUERY_KEY))
        until(lambda: documents.find("lab/notices", [f"doi:{doi}"])[0].notices, 60, "notice")
    until(lambda: [each for each in stack.log("sync_delta") if complete(each)], 60, "complete check")
    assert not stack.dead()


def complete(line):
    return (line.get("query_key"), line.get("state")) == (notices.QUERY_KEY, "complete")

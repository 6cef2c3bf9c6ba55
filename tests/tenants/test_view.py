"""A tenant sees nothing of another's, whatever it names; of the corpus all see the same."""

import inspect
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bio_mcp.call import call, read
from bio_mcp.callers import ANONYMOUS, SCOPES
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import BudgetSpent, Forbidden, NotFound
from bio_mcp.graph.nodes import EdgeType, Step
from bio_mcp.ingesting.projects import Options, create_project, delete_project
from bio_mcp.ports import Backends
from bio_mcp.ports import port as declared_port
from bio_mcp.ports.projects import Collections, ProjectDocuments
from bio_mcp.ports.state import Allowance, Leases
from bio_mcp.scope import Limits
from bio_mcp.syncing import delta, pubmed_files, withdrawals
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.delta import pmids_of_projects
from bio_mcp.tenants import OF_TENANT, SHARED, SHARED_KINDS, CallBackends, Names, of_all_tenants
from bio_mcp.tool import Tool
from tests.support.sample_corpus import articles
from tests.support.sample_graph import HERB, add_graph
from tests.tenants.two_tenants import (
    ANSWER,
    CALL,
    DOCUMENT,
    JOB,
    NORTH,
    OWN,
    SECRET,
    SOUTH,
    STRANGERS,
    Words,
    add_document_edge,
    attempts,
    furnish,
    guesses,
    state_of,
)

FEW = 11  # of how many attempts one is made here; tests/all makes every one, over HTTP
OWNERS = {"north": NORTH, "": OWN}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with closing(Words(tmp_path_factory.mktemp("tenants"), articles())) as made:
        apply_records(made.articles[:6], made)
        add_graph(made)
        add_document_edge(made)
        made.files = {tenant: furnish(made, owner) for tenant, owner in OWNERS.items()}
        yield made


def made(what, arguments, corpus, caller):
    return (call if isinstance(what, Tool) else read)(what, arguments, corpus, caller=caller)


@pytest.mark.parametrize("tenant", OWNERS)
def test_no_attempt_of_a_stranger_shows_or_changes_what_a_tenant_has(corpus, tenant):
    names = guesses(OWNERS[tenant], corpus.files[tenant])
    before, secret = state_of(corpus, OWNERS[tenant]), SECRET[tenant]
    tried = list(attempts(names))
    assert len(tried) > 1_000
    for place, (what, arguments) in list(enumerate(tried))[::FEW]:
        outcome = made(what, arguments, corpus, STRANGERS[tenant][place % len(STRANGERS[tenant])])
        assert secret not in outcome.text, (what.name, arguments)
        assert not isinstance(outcome.failure, BudgetSpent)  # it was tried
    assert state_of(corpus, OWNERS[tenant]) == before


def test_the_same_attempts_show_the_owner_what_it_has(corpus):
    reader = replace(NORTH, scopes=frozenset({"read"}))
    tried = attempts(["lab", "vault", DOCUMENT])
    shown = {what.name for what, arguments in tried if SECRET["north"] in made(what, arguments, corpus, reader).text}
    assert shown >= {"query_hybrid", "query", "find_chunks", "inspect_collection", "hybrid_search"}


@pytest.mark.parametrize("tenant", OWNERS)
def test_a_list_has_a_tenants_own_projects_alone(corpus, tenant):
    def listed(caller):
        return [each["id"] for each in call(TOOLS["list_projects"], {}, corpus, caller=caller).body["projects"]]

    assert listed(OWNERS[tenant]) == ["lab", f"{SECRET[tenant]}-den", "vault"]
    assert listed(SOUTH) == listed(ANONYMOUS) == []


def test_two_tenants_may_have_projects_of_one_name_and_an_unknown_one_is_answered_with_their_own_alone(corpus):
    south = CallBackends(corpus, SOUTH)
    project = create_project("lab", Options(), south).project
    assert south.collections.count(project.collection) == 0
    assert CallBackends(corpus, NORTH).collections.count(project.collection) == 1
    delete_project("lab", south)
    assert [each.project_id for each in south.projects.all()] == []
    assert len(CallBackends(corpus, NORTH).projects.all()) == 3
    with pytest.raises(NotFound, match="Available projects: none yet") as failed:
        CallBackends(corpus, SOUTH).projects.get("lab")
    assert failed.value.details["available_projects"] == []


@pytest.mark.parametrize("stranger", [SOUTH, OWN, None])
def test_what_has_an_id_is_not_found_by_a_stranger(corpus, stranger):
    other, key = CallBackends(corpus, stranger), Names("north").key
    for name in (JOB["north"], f"{key}:{JOB['north']}"):
        with pytest.raises(NotFound):
            other.jobs.get(name)
        assert not other.jobs.is_cancelled(name)
    for port, name in [("answers", f"{key}:{ANSWER}"), ("calls", f"{key}:{CALL}")]:
        with pytest.raises(NotFound):
            getattr(other, port).get(name)
    folder, _, file = corpus.files["north"].rpartition("/")
    with pytest.raises(NotFound):
        other.blobs.get(f"{folder}/{key}/{file}")


def test_lists_of_jobs_answers_and_calls_have_a_tenants_own(corpus):
    north, south = CallBackends(corpus, NORTH), CallBackends(corpus, SOUTH)
    assert {each.kind for each in north.jobs.newest("ingest", 10)} == {"ingest"}
    assert north.jobs.latest("ingest", "lab 1").kind == "ingest"
    assert (south.jobs.newest("ingest", 10), south.jobs.latest("ingest", "lab 1")) == ([], None)
    corpus.answers.flag("17727691")
    assert [each.answer_id for each in north.answers.citing("17727691")] == [ANSWER]
    assert (south.answers.flagged(5), south.answers.citing("17727691")) == ([], [])
    for mine, tenant in ((north, "north"), (CallBackends(corpus, OWN), "")):
        assert [(each.answer_id, each.question) for each in mine.answers.flagged(5)] == [(ANSWER, SECRET[tenant])]
    assert CALL in [each.correlation_id for each in north.calls.latest(1_000)]
    assert not [each for each in south.calls.latest(1_000) if SECRET["north"] in str(each.arguments)]
    assert not [each for each in CallBackends(corpus, OWN).calls.latest(1_000) if ":" in each.correlation_id]


def test_tenants_do_not_wait_for_one_anothers_leases_but_for_those_of_the_corpus(corpus):
    north, south = CallBackends(corpus, NORTH).leases, CallBackends(corpus, SOUTH).leases
    assert [bool(each.acquire("ingest:lab 1", name, 60)) for each, name in ((north, "a"), (south, "b"))] == [True, True]
    assert [bool(each.acquire("sync:cancer", name, 60)) for each, name in ((north, "a"), (south, "b"))] == [True, False]


def test_jobs_of_the_corpus_are_everybodys(corpus):
    assert {delta.KIND, withdrawals.KIND, pubmed_files.KIND} == SHARED_KINDS
    job = replace(CallBackends(corpus, NORTH).jobs.get(JOB["north"]), job_id="sync_1", kind="sync")
    CallBackends(corpus, NORTH).jobs.put(job)
    assert CallBackends(corpus, SOUTH).jobs.get("sync_1") == corpus.jobs.get("sync_1") == job


def test_what_is_queued_is_called_on_behalf_of_whoever_queued_it(corpus):
    CallBackends(corpus, NORTH).continuations.send({"tool": "list_projects", "arguments": {}})
    receipt, event = corpus.continuations.receive(5)
    corpus.continuations.ack(receipt)
    assert event["caller"] == {"subject": "ann", "scopes": sorted(SCOPES), "tenant": "north", "client": ""}
    CallBackends(corpus, None).continuations.send({"tool": "list_projects", "arguments": {}})
    assert "caller" not in corpus.continuations.receive(5)[1]


def test_the_log_of_changes_says_who_asked():
    noted = []
    backends = SimpleNamespace(audit=SimpleNamespace(record=lambda *_, caller: noted.append(caller)))
    CallBackends(backends, NORTH).audit.record("stop", "k", 1, 2)
    CallBackends(backends, None).audit.record("stop", "k", 1, 2)
    CallBackends(backends, NORTH).audit.record("stop", "k", 1, 2, caller="eve")
    assert noted == ["ann", None, "eve"]


def test_upkeep_reaches_the_projects_of_all(corpus):
    for caller in (SOUTH, NORTH, None):
        assert pmids_of_projects(CallBackends(CallBackends(corpus, caller), None)) == {"17727691"}
    assert of_all_tenants(corpus) is corpus


def test_tenants_read_the_graph_without_what_documents_state_and_write_nothing(corpus):
    step = Step(EdgeType.ACTS_ON)
    assert SECRET[""] in str(CallBackends(corpus, OWN).graph.neighbours([HERB.node_id], [step], 9))
    assert CallBackends(corpus, SOUTH).graph.neighbours([HERB.node_id], [step], 9) == {}
    assert CallBackends(corpus, SOUTH).graph.neighbours([HERB.node_id], [Step(EdgeType.TREATS)], 9)
    with pytest.raises(Forbidden, match="the graph is everybody's"):
        CallBackends(corpus, SOUTH).graph.put([], [])
    batch = {"dry_run": False, "batch": [{"uri": "https://a.example/x.txt"}]}
    assert isinstance(call(TOOLS["ingest.run"], batch, corpus, caller=SOUTH).failure, Forbidden)


@pytest.mark.parametrize("source", ["README.md", "file:///etc/hosts", "s3://inbox/lab/x.pdf", "zotero"])
def test_files_of_the_installation_are_not_read_into_a_tenants_projects(corpus, source):
    arguments = {"project": "lab", "source": source}
    outcome = call(TOOLS["ingest_from_source"], arguments, corpus, caller=NORTH)
    assert isinstance(outcome.failure, Forbidden)
    assert "tenants read documents from https addresses" in str(outcome.failure)


def test_the_user_of_this_machine_may_read_files_into_a_tenants_project(corpus, tmp_path):
    sources = CallBackends(corpus, NORTH).sources
    (tmp_path / "a.txt").write_text("text")
    location = sources.locate(str(tmp_path / "a.txt"), local=True)
    assert sources.read(sources.files(location, local=True)[0].address, local=True) == b"text"
    with pytest.raises(Forbidden):
        sources.files(location, local=False)


def test_every_port_is_everybodys_or_has_a_form_for_tenants():
    members = {name for name, each in vars(Backends).items() if isinstance(each, declared_port)}
    assert members == SHARED | OF_TENANT.keys()
    assert not SHARED & OF_TENANT.keys()
    with pytest.raises(AttributeError, match="tenants share no settings"):
        CallBackends(Words, None).find_port("settings")


@pytest.mark.parametrize("port", [Collections, ProjectDocuments, Leases])
def test_each_method_takes_first_the_name_of_what_it_is_about(port):
    methods = [each for name, each in vars(port).items() if not name.startswith("_")]
    firsts = {list(inspect.signature(each).parameters)[1] for each in methods}
    assert firsts <= {"collection", "project_id", "name"}


def test_names_of_two_tenants_are_never_one():
    north = Names("north")
    assert north.own(north.stored("x")) == "x"
    assert Names("south").own(north.stored("x")) is None
    assert Names("").own(north.stored("x")) is None
    assert Names("").own("t1:x") == "t1:x"
    with pytest.raises(NotFound):
        Names("").stored(north.stored("x"))
    assert Names("south").stored(north.stored("x")) != north.stored("x")


def test_the_user_of_this_machine_who_works_for_a_tenant_uses_up_none_of_its_budgets(corpus):
    arguments = {"project": "lab"}
    assert call(TOOLS["inspect_collection"], arguments, Limited(corpus), caller=NORTH, local=True).budgets == {}
    assert call(TOOLS["inspect_collection"], arguments, Limited(corpus), caller=NORTH).budgets["calls"]["left"] == 4


class Limited:
    """`Backends` over others, with a limit of five calls a second."""

    def __init__(self, backends):
        self._backends = backends
        self.limits = Limits(self, {"calls": 5}, {}, {})

    def __getattr__(self, name):
        return getattr(self._backends, name)

    def spend(self, charges):
        return [Allowance(each, True, each.most - each.amount, 1.0) for each in charges]

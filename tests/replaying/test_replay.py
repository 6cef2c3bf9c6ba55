"""A recorded call, replayed on the corpus of then and of now."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.errors import NotFound, StoreFailed, UpstreamFailed
from bio_mcp.ports import Backends
from bio_mcp.ports.models import Generated
from bio_mcp.ports.projects import Project
from bio_mcp.ports.stores import StoredAnswer
from bio_mcp.recording import matching_key, search_key
from bio_mcp.replaying import PapersMoved, replay
from bio_mcp.retrieval.passages import Filters, PassageQuery
from bio_mcp.retrieval.pubmed_syntax import parsed
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.fields import BIO_MCP
from tests.replaying.backends import GINGER, RecordedCorpus
from tests.support.hooked import raising
from tests.support.memory_corpus import article

SEARCH = TOOLS["rag.search"]
ASKED = {"query": "ginger against nausea", "top_k": 2}


@pytest.fixture
def corpus(tmp_path):
    return RecordedCorpus(tmp_path, *GINGER)


def asked(corpus, what=SEARCH, arguments=ASKED):
    outcome = call(what, arguments, corpus, correlation_id="c1")
    assert not outcome.failed, outcome.body
    return outcome


def replayed(corpus, tools=TOOLS):
    return replay("c1", corpus, tools)


def changed(corpus, **fields):
    corpus.calls.by_id["c1"] = replace(corpus.calls.by_id["c1"], **fields)


def test_where_nothing_moved_the_answer_is_equal_also_of_an_empty_corpus(corpus, tmp_path):
    asked(corpus)
    found = replayed(corpus)
    assert (found.equal, found.as_then, found.today, found.moved) == (True, True, True, ())
    assert found.papers == PapersMoved()
    empty = RecordedCorpus(tmp_path / "empty")
    assert "The corpus is empty" in asked(empty).body["warnings"][0]
    assert replayed(empty).equal


@pytest.mark.parametrize(
    ("paper", "version", "revised", "new"),
    [
        (article("1", "Ginger against nausea, revised.", "Ginger did nothing."), 2, ("1",), ()),
        (article("9", "Ginger against nausea again.", "Ginger against nausea."), 1, (), ("9",)),
    ],
)
def test_a_paper_that_was_revised_or_is_new_is_named_and_the_answer_of_then_is_still_given(
    corpus, paper, version, revised, new
):
    asked(corpus)
    corpus.store(paper, version)
    found = replayed(corpus)
    assert (found.as_then, found.today, found.moved) == (True, False, ("corpus",))
    assert (found.papers.revised, found.papers.new, found.papers.gone) == (revised, new, ())


def test_a_paper_that_was_withdrawn_is_named_and_that_the_corpus_of_then_cannot_be_read(corpus):
    asked(corpus)
    corpus.remove("1")
    found = replayed(corpus)
    assert (found.as_then, found.today, found.moved) == (None, False, ("corpus",))
    assert found.papers.gone == ("1",)
    assert "PMID 1 " in found.because


def test_papers_that_only_score_differently_are_the_corpus_too(corpus):
    asked(corpus)
    for pmid in range(20, 30):
        corpus.store(article(str(pmid), "Volcanoes", "They erupt"), 1)
    found = replayed(corpus)
    assert found.as_then
    assert found.papers.rescored > 0
    assert (found.equal, found.moved) in [(True, ()), (False, ("corpus",))]


def other():
    """The same tool with other code: it leaves out the last hit."""

    def run(*given):
        answer = SEARCH.run(*given)
        return answer.model_copy(update={"results": answer.results[:-1]})

    return {"rag.search": replace(SEARCH, run=run)}


@pytest.mark.parametrize("name", ["code", "rules"])
def test_where_the_answer_on_the_corpus_of_then_is_another_code_or_rules_moved(corpus, name):
    asked(corpus)
    assert replayed(corpus, other()).moved == ("unknown",)
    changed(corpus, inputs={**corpus.calls.get("c1").inputs, name: "of another version"})
    found = replayed(corpus, other())
    assert (found.equal, found.as_then, found.today, found.moved) == (False, False, False, (name,))


def test_other_code_that_gives_the_same_answer_is_equal_and_code_and_corpus_are_both_named(corpus):
    asked(corpus)
    changed(corpus, inputs={**corpus.calls.get("c1").inputs, "code": "of another version"})
    assert replayed(corpus).equal
    corpus.store(article("9", "Ginger against nausea again.", "Ginger against nausea."), 1)
    found = replayed(corpus, other())
    assert (found.as_then, found.moved) == (False, ("corpus", "code"))


def test_another_embedding_model_is_named(corpus):
    asked(corpus)
    changed(corpus, out_hash="of the other model", inputs={**corpus.calls.get("c1").inputs, "model": "another"})
    assert replayed(corpus).moved == ("model",)


def test_code_that_asks_the_index_for_something_else_is_another_answer(corpus):
    asked(corpus)
    changed(corpus, arguments={**ASKED, "query": "statins"}, inputs={"code": "of another version"})
    found = replayed(corpus)
    assert (found.as_then, found.today, found.moved) == (False, False, ("corpus", "code"))


def test_the_day_is_that_of_then_and_a_replay_is_not_recorded(corpus):
    asked(corpus)
    corpus.today = lambda: corpus.now().date().replace(year=2040)
    assert replayed(corpus).equal
    assert [each.correlation_id for each in corpus.calls.latest(9)] == ["c1"]


class Nothing(Request):
    """No arguments."""


class Said(Response):
    text: str


@tool("test.write", family=BIO_MCP, scope="read", timeout=5, beyond="a test")
def writes(request: Nothing, backends: Backends, context: Context) -> Said:
    """Have the language model write, and store an answer."""
    backends.documents.get_many(["1"])
    generated = backends.language_model.generate("?", ["A."], context.deadline)
    backends.answers.put(StoredAnswer("a1", "a question", generated.text, (), 0.9, backends.now()))
    return Said(text=generated.text)


class Model:
    """Writes something else each time."""

    fingerprint = "test/model/1"

    def __init__(self):
        self.asked = 0

    def generate(self, question, passages, deadline):  # noqa: ARG002  the port's form
        self.asked += 1
        return Generated(f"Answer {self.asked}.")


class Reversing:
    """A reranker that prefers what came later."""

    fingerprint = "reversing/1"

    def scores(self, _question, passages, _deadline):
        return [float(place) for place in range(len(passages))]


def test_another_reranker_than_then_is_named(corpus):
    asked(corpus)
    assert corpus.calls.get("c1").inputs["reranker"] == "none"
    corpus.reranker = Reversing()
    found = replayed(corpus)
    assert (found.as_then, found.today, found.moved) == (True, False, ("reranker",))


def test_what_a_reranker_made_of_a_search_is_not_recorded_and_that_is_reported(corpus):
    corpus.reranker = Reversing()
    asked(corpus)
    found = replayed(corpus)
    assert (found.equal, found.as_then, found.today) == (True, None, True)
    assert "reranker" in found.because


def test_what_a_language_model_wrote_is_recorded_so_that_only_its_answer_of_today_differs(corpus):
    stored = []
    corpus.language_model, corpus.answers = Model(), SimpleNamespace(put=stored.append)
    asked(corpus, writes, {})
    found = replayed(corpus, {"test.write": writes})
    assert (found.as_then, found.today, found.moved) == (True, False, ("unknown",))
    changed(corpus, inputs={**corpus.calls.get("c1").inputs, "language_model": "test/model/0"})
    assert replayed(corpus, {"test.write": writes}).moved == ("language_model",)
    assert len(stored) == 1


@tool("test.try", family=BIO_MCP, scope="read", timeout=5, beyond="a test")
def tries(request: Nothing, backends: Backends, context: Context) -> Said:
    """Have the language model write, or say why it did not."""
    backends.documents.get_many(["1"])
    try:
        return Said(text=backends.language_model.generate("?", ["A."], context.deadline).text)
    except UpstreamFailed as failure:
        return Said(text=str(failure))


def test_that_a_language_model_failed_is_recorded_too(corpus):
    corpus.language_model = SimpleNamespace(fingerprint="down", generate=raising(UpstreamFailed, "It is down."))
    asked(corpus, tries, {})
    corpus.language_model = Model()
    found = replayed(corpus, {"test.try": tries})
    assert (found.as_then, found.today) == (True, False)


@tool("test.graph", family=BIO_MCP, scope="read", timeout=5, beyond="a test")
def reads_graph(request: Nothing, backends: Backends) -> Said:
    """Say how the graph is."""
    return Said(text=backends.graph.revision())


def test_a_graph_that_moved_is_named(corpus):
    corpus.graph = SimpleNamespace(revision=lambda: "one")
    asked(corpus, reads_graph, {})
    assert replayed(corpus, {"test.graph": reads_graph}).equal
    corpus.graph = SimpleNamespace(revision=lambda: "two")
    found = replayed(corpus, {"test.graph": reads_graph})
    assert (found.as_then, found.today, found.moved) == (None, False, ("graph",))
    assert "graph is not recorded" in found.because


class Projects(list):
    """Projects, by their names."""

    def all(self):
        return [Project(name, f"proj-{name}", "words") for name in self]


def test_what_was_read_of_projects_is_not_recorded_and_named_where_the_answer_differs(corpus):
    corpus.projects = Projects(["a"])
    asked(corpus, reads_both, {})
    assert replayed(corpus, {"test.both": reads_both}).equal
    corpus.projects = Projects(["a", "b"])
    found = replayed(corpus, {"test.both": reads_both})
    assert (found.as_then, found.today, found.moved) == (None, False, ("projects",))


def test_that_there_were_no_projects_is_recorded(corpus):
    corpus.projects = Projects()
    asked(corpus, reads_both, {})
    corpus.projects = Projects(["a"])
    found = replayed(corpus, {"test.both": reads_both})
    assert (found.as_then, found.today, found.moved) == (True, False, ("projects",))


@tool("test.both", family=BIO_MCP, scope="read", timeout=5, beyond="a test")
def reads_both(request: Nothing, backends: Backends) -> Said:
    """Say how many projects there are, and whether a paper is."""
    return Said(text=f"{len(backends.projects.all())} {len(backends.documents.get_many(['1']))}")


def test_a_call_that_is_not_in_the_log_or_of_an_unknown_tool_is_not_found(corpus):
    with pytest.raises(NotFound):
        replayed(corpus)
    asked(corpus)
    with pytest.raises(NotFound, match="no tool"):
        replayed(corpus, {})


@pytest.mark.parametrize("blob", [b"", b"junk", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_what_was_read_and_is_damaged_is_a_failure_of_the_store(corpus, blob):
    asked(corpus)
    changed(corpus, read=blob)
    with pytest.raises(StoreFailed):
        replayed(corpus)


@tool("test.index", family=BIO_MCP, scope="read", timeout=5, beyond="a test")
def asks_index(request: Nothing, backends: Backends) -> Said:
    """Say what the index answers to everything but a question."""
    passages, filters = backends.passages, Filters(tree=parsed("ginger NOT vomiting"))
    names = passages.other_names({"gi", "ginger"})
    papers = passages.hybrid_search(PassageQuery((("ginger", 1.0),), None, filters))
    return Said(text=repr((passages.matching(filters, 2), passages.words_like("gingr"), names, papers)))


def test_what_else_the_index_answered_is_recorded(corpus):
    assert "'ginger', 3" in asked(corpus, asks_index, {}).body["text"]
    found = replayed(corpus, {"test.index": asks_index})
    assert (found.equal, found.as_then) == (True, True)
    corpus.store(article("9", "Other names.", "Ground ginger (GI)."), 1)
    found = replayed(corpus, {"test.index": asks_index})
    assert (found.as_then, found.today, found.moved) == (True, False, ("corpus",))


def test_a_count_of_other_papers_is_another_search():
    trees = (None, *map(parsed, ("ginger", "ginger OR nausea", "ginger[ti]")))
    filters = [Filters(tree=tree, participants_min=least) for tree in trees for least in (None, 0, 9)]
    assert len({matching_key(each, 9) for each in filters}) == len(filters)
    assert len({search_key(PassageQuery((), None, each)) for each in filters}) == len(filters)

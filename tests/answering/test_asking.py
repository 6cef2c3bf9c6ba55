"""Each search and answer, by a model that wants questions in another form than passages."""

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.deadline import NEVER
from bio_mcp.evaluating.asking import Asking
from bio_mcp.evaluating.questions import JudgedQuestion
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus, HashedWords
from tests.support.memory_corpus import article
from tests.support.sample_project import add_project

QUESTION = "statins mortality"
PAPERS = [article(str(n), f"Statins and mortality {n}.", "Statins lowered mortality.", 2020 + n) for n in range(1, 4)]
SEARCHES = {
    "rag.search": {"query": QUESTION},
    "rag_answer": {"question": QUESTION},
    "find_chunks": {"project": "lab", "query": QUESTION},
    "query": {"project": "lab", "text": QUESTION},
    "query_hybrid": {"project": "lab", "text": QUESTION},
}


class TwoForms(HashedWords):
    """Notes which texts came as questions; a question has the vector of its text."""

    def __init__(self):
        super().__init__()
        self.questions, self.passages = [], []

    def embed(self, texts):
        self.passages += texts
        return super().embed(texts)

    def embed_questions(self, texts):
        self.questions += texts
        return super().embed(texts)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    with Corpus(tmp_path_factory.mktemp("asked")) as made:
        made.model = TwoForms()
        apply_records(PAPERS, made)
        add_project(made, "lab")
        yield made


def test_papers_and_chunks_are_embedded_as_passages(corpus):
    assert corpus.model.passages
    assert QUESTION not in corpus.model.passages


@pytest.mark.parametrize("tool", SEARCHES)
def test_what_is_asked_is_embedded_as_a_question_and_nothing_else_is(corpus, tool):
    corpus.model.questions.clear()
    outcome = call(TOOLS[tool], SEARCHES[tool], corpus)
    assert not outcome.failed, outcome.body
    assert set(corpus.model.questions) == {QUESTION}
    assert QUESTION not in corpus.model.passages


def test_an_evaluation_asks_in_that_form_too(corpus):
    corpus.model.questions.clear()
    Asking(corpus, NEVER, answers=True).ask(JudgedQuestion("1", QUESTION, ("1",)))
    assert corpus.model.questions == [QUESTION]
    assert QUESTION not in corpus.model.passages

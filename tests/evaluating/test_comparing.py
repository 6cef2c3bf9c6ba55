"""Two indexes of the papers, compared by what they find."""

from dataclasses import replace
from itertools import islice

import pytest

from bio_mcp.deadline import NEVER, silent
from bio_mcp.errors import InvalidInput
from bio_mcp.evaluating.comparing import compare
from bio_mcp.evaluating.questions import EvaluationSet, JudgedQuestion
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.ports.models import Role
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import begin, fill, of_role
from tests.doors.command_line import sample
from tests.support.corpus import Corpus, HashedWords

PAPERS = 20
UNSEEN = "zz"  # before each word of a question, so that no word of the papers is among them


class Seeing(HashedWords):
    """A model that knows what the words of the questions mean."""

    def embed_questions(self, texts):
        return self.embed([text.replace(UNSEEN, "") for text in texts])


@pytest.fixture
def papers():
    found = (each for each in sample() if each.title and each.retraction is RetractionStatus.CLEAR)
    return list(islice(found, PAPERS))


def asked(papers, articles=None):
    """A question for each paper, by its title."""
    texts = {each.pmid: " ".join(f"{UNSEEN}{word}" for word in each.title.split()) for each in papers}
    questions = tuple(JudgedQuestion(pmid, text, (pmid,)) for pmid, text in texts.items())
    return EvaluationSet("titles", "1", questions, articles)


def compared(home, papers, questions, searched, other):
    with Corpus(home) as corpus:
        corpus.model, corpus.other_models = searched, [other]
        apply_records(papers, corpus)
        fill(begin(other, corpus, force=True), corpus)
        indexes = (of_role(each, corpus) for each in (Role.SEARCHED, Role.NEXT))
        return compare(questions, *indexes, corpus, NEVER, silent)


def test_an_index_that_finds_as_much_is_not_worse(tmp_path, papers):
    found = compared(tmp_path, papers, asked(papers), Seeing(), Seeing("-2"))
    assert [each.name for each in found.differences] == ["nDCG@10", "R@10", "R@100"]
    assert found.worse == []
    assert found.differences[0].questions == len(papers)
    assert found.overlap_low <= found.overlap <= found.overlap_high <= 1


def test_an_index_that_finds_less_by_more_than_chance_is_worse(tmp_path, papers):
    found = compared(tmp_path, papers, asked(papers), Seeing(), HashedWords("-2"))
    assert "nDCG@10" in [each.name for each in found.worse]
    first = found.differences[0]
    assert first.next < first.searched
    assert first.low < first.next - first.searched < first.high < 0
    assert found.overlap < 1
    better = compared(tmp_path / "better", papers, asked(papers), HashedWords("-2"), Seeing())
    assert better.worse == []
    assert better.differences[0].low > 0


def test_a_set_with_papers_of_its_own_is_asked_of_corpora_apart(tmp_path, papers):
    own = papers[:8]
    questions = asked(own, articles=lambda: own)
    found = compared(tmp_path, papers[8:], questions, Seeing(), Seeing("-2"))
    assert found.differences[1].searched == found.differences[1].next == 1
    assert len(list((tmp_path / "scratch").iterdir())) == 2


def test_two_indexes_of_one_model_must_find_the_same_and_are_not_asked_in_corpora_apart(tmp_path, papers):
    model, own = Seeing(), papers[:8]
    found = compared(tmp_path, papers[8:], asked(papers[8:], articles=lambda: own), model, model)
    [alike] = found.differences
    assert (alike.name, alike.next, found.worse, found.overlap) == ("alike@10", 1, [], 1)
    assert not (tmp_path / "scratch").exists()


def test_of_two_indexes_of_one_model_that_which_finds_others_is_worse(tmp_path, papers):
    with Corpus(tmp_path) as corpus:
        corpus.model = Seeing()
        apply_records(papers, corpus)
        fill(begin(corpus.model, corpus, force=True), corpus)
        searched, other = (of_role(each, corpus) for each in (Role.SEARCHED, Role.NEXT))
        other.passages.delete([each.pmid for each in papers[:10]])
        found = compare(asked(papers), searched, other, corpus, NEVER, silent)
    assert next(each.name for each in found.worse) == "alike@10"
    assert found.overlap < 0.9


def test_a_set_without_answers_is_refused(tmp_path, papers):
    without = asked(papers)
    unanswered = tuple(replace(each, pmids=()) for each in without.questions)
    with pytest.raises(InvalidInput, match="no question with papers"):
        compared(tmp_path, papers[:3], replace(without, questions=unanswered), Seeing(), Seeing("-2"))

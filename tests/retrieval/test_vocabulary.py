"""Terms as numbers of a vocabulary."""

import pickle
from concurrent.futures import ThreadPoolExecutor

from bio_mcp.retrieval import vocabulary
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.vocabulary import Terms, Vocabulary
from tests.retrieval.full_vocabulary import fill_vocabulary


def test_terms_are_those_that_were_numbered():
    terms = Terms.of(["b", "a", "b"])
    assert (list(terms), len(terms), terms[1], terms[1:]) == (["b", "a", "b"], 3, "a", ["a", "b"])
    assert terms == ["b", "a", "b"]
    assert terms != ["b", "a"]
    assert not Terms.of([])


def test_another_process_reads_the_same_terms():
    terms = Terms.of(["statin", "help", "statin"])
    assert pickle.loads(pickle.dumps(terms)) == terms  # noqa: S301  our own bytes


def test_terms_of_another_vocabulary_are_numbered_anew():
    other = Vocabulary()
    terms = Terms(other, other.numbered(["new", "terms", "new"]))
    assert Terms.of(terms) == terms
    assert Terms.of(terms).vocabulary is vocabulary.current()


def test_a_vocabulary_that_is_full_is_replaced_and_texts_keep_theirs():
    fill_vocabulary(left=4)
    texts = [f"zinc{number} copper{number} iron{number}" for number in range(5)]
    kept = [Terms.of(analyse(text)) for text in texts]
    assert [list(terms) for terms in kept] == [text.split() for text in texts]
    assert len({id(terms.vocabulary) for terms in kept}) == 2


def test_threads_give_each_term_one_number():
    words, shared = [f"t{number % 500}" for number in range(5_000)], Vocabulary()
    with ThreadPoolExecutor(8) as threads:
        numbered = list(threads.map(shared.numbered, [words] * 8))
    assert [list(Terms(shared, numbers)) for numbers in numbered] == [words] * 8
    assert len(shared.terms) == 500

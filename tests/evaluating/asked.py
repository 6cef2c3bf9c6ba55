"""A corpus to evaluate, and a small set with a corpus of its own."""

from bio_mcp.evaluating.questions import EvaluationSet, JudgedQuestion
from tests.support.corpus import Corpus
from tests.support.memory_corpus import article

WORDS = "heart liver kidney lung brain spleen bone skin eye ear nose tongue".split()
ARTICLES = [article(str(n), f"The {word}", f"All about the {word}. It is an organ.") for n, word in enumerate(WORDS, 1)]
QUESTIONS = tuple(JudgedQuestion(f"q{n}", f"all about the {word}", (str(n),)) for n, word in enumerate(WORDS, 1))


def organs(questions=QUESTIONS, articles=ARTICLES, version="v1"):
    return EvaluationSet("organs", version, tuple(questions), lambda: articles)


class Backwards:
    """Passages whose scores say the contrary of what they should."""

    def __init__(self, passages):
        self._passages = passages

    def __getattr__(self, name):
        return getattr(self._passages, name)

    def hybrid_search(self, query):
        found = self._passages.hybrid_search(query)
        for each in found:
            each.bm25 = None if each.bm25 is None else 1 / (1 + each.bm25)
            each.sim = None if each.sim is None else -each.sim
        return found


class Worse(Corpus):
    """A corpus that is searched badly."""

    @property
    def passages(self):
        return Backwards(super().passages)

"""What a question is about, and whether a paper has it: by MeSH's entry terms and drug names, by what papers abbreviate
and are indexed under, by their titles, and by names of people, places and death."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import pairwise

from bio_mcp.literature.records import Article
from bio_mcp.retrieval.abbreviations import defined_names
from bio_mcp.retrieval.analysis import QUERY_CHARACTERS, QUERY_STOP_WORDS, analyse, query_terms
from bio_mcp.retrieval.chunking import abstract_text, sentence_spans
from bio_mcp.retrieval.question import concepts

Name = tuple[str, ...]
LONGEST_NAME = 5  # words
LIKE_FROM = 5  # letters that two forms of a word begin with, as "Germany" and "German" ...
DIFFERENT = 3  # ... and letters, at most, that either has beyond those


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing that the question names, in its words, and the names of it, as analysed words.

    `loose`: a paper has it that has these words, in like forms, anywhere.
    """

    text: str
    names: tuple[Name, ...]
    loose: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks about: its `concepts`, and all its `words`, analysed.

    `listed`: it lists things, as in "A, B or C", so that a paper need not have all of them.
    """

    concepts: tuple[Concept, ...]
    words: tuple[str, ...]
    listed: bool


class PaperWords:
    """The analysed words of a paper, part by part: its title, each sentence, heading and keyword.

    What the paper abbreviates stands in a part in both forms. `names` are what it is indexed under and may be asked,
    and pairs of words of its title.
    """

    def __init__(self, article: Article) -> None:
        text, title = abstract_text(article), article.title or article.vernacular_title or ""
        headings = [
            *(each.name for each in article.mesh),
            *(each.name for each in article.chemicals),
            *article.keywords,
        ]
        said = [title, *(text[slice(*span)] for span in sentence_spans(text))]
        self.defined = [(tuple(short.split()), tuple(long.split())) for short, long in defined_names(text)]
        self.parts = [self._written_out(set(analyse(each))) for each in (*said, *headings) if each]
        self.all = frozenset[str]().union(*self.parts)
        keywords = {tuple(analyse(each)) for each in article.keywords}
        under = keywords | {tuple(analyse(each.partition(",")[0])) for each in headings}
        self.names = {name for name in under if len(name) <= LONGEST_NAME and _tells(name, name in keywords)}
        self.names.update(_pairs_of(title))

    def _written_out(self, words: set[str]) -> set[str]:
        for forms in self.defined:
            for one, other in (forms, forms[::-1]):
                if words.issuperset(one):
                    words |= set(other)
        return words

    def has(self, concept: Concept) -> bool:
        """Whether one part of the paper has all words of a name, in any order."""
        if concept.loose:
            return all(self._has_word(word) for name in concept.names for word in name)
        return any(part.issuperset(name) for name in concept.names for part in self.parts)

    def share(self, words: Collection[str]) -> float:
        """The share of the words that the paper has, in this form or a like one."""
        return sum(map(self._has_word, words)) / max(1, len(words))

    def _has_word(self, word: str) -> bool:
        if word in self.all or any(len(name) == 1 and name[0] in self.all for name in concepts().get((word,), ())):
            return True
        start = word[: max(LIKE_FROM, len(word) - DIFFERENT)]
        return len(word) >= LIKE_FROM and any(
            each.startswith(start) and len(each) <= len(start) + DIFFERENT for each in self.all
        )


def _tells(name: Name, keyword: bool) -> bool:
    """Whether a name that a paper is indexed under tells what it is about: at least two of a keyword, several words,
    and words that few abstracts have. A heading of one word, as "Plants", is often in no sentence of a paper that
    answers.
    """
    return keyword + (len(name) > 1) + (not set(name) <= frequent()) >= 2


def _pairs_of(title: str) -> Iterator[Name]:
    """Two words of a title with nothing between them, one of which few abstracts have."""
    terms = [() if each.lower() in QUERY_STOP_WORDS else tuple(analyse(each)) for each in _PIECE.findall(title)]
    for pair in pairwise(terms):
        if all(len(each) == 1 for each in pair) and not {*pair[0], *pair[1]} <= frequent():
            yield (*pair[0], *pair[1])


_PIECE = re.compile(r"[^\s,;:.?!()/]+|[,;:.?!()/]")
_EDGES = " ,;:.?!()[]\"'"


def asked_about(question: str, papers: Iterable[PaperWords] = ()) -> Asked:
    """What the question asks about. `papers` say what abbreviations stand for, and which names there are."""
    question = question[:QUERY_CHARACTERS]
    told = [(term, word) for word in question.split() for term in _terms_of(word)]
    terms = [term for term, _ in told]
    others: dict[Name, set[Name]] = {}
    for paper in papers:
        for one, other in paper.defined:
            others.setdefault(one, set()).add(other)
            others.setdefault(other, set()).add(one)
        for name in paper.names:
            others.setdefault(name, set())
    found: dict[Name, Concept] = {}
    for start, end in _names_in(terms, others):
        name = tuple(terms[start:end])
        known = {*concepts().get(tuple(sorted(name)), ()), *others.get(name, ())}
        names = {*_no_wider(name, known), *_also().get(name, ())} - {name}
        words = " ".join(dict.fromkeys(word for _, word in told[start:end])).strip(_EDGES)
        found.setdefault(name, Concept(words, (name, *sorted(names))))
    for phrase in _COMPARED.findall(question):
        if compared := tuple(term for term, _ in query_terms(phrase) if term not in frequent()):
            found.setdefault(compared, Concept(phrase.strip(), (compared,), loose=True))
    return Asked(tuple(found.values()), tuple(term for term, _ in query_terms(question)), _lists(question))


_COMPARED = re.compile(
    r"\b(?:than|versus|vs\.?|compared (?:with|to)) +"
    r"((?:(?!(?:in|for|at|on|to|of|after|before|when|during|by|with)\b)[^\s,.;:?]+ *){1,4})",
    re.IGNORECASE,
)  # what a thing is compared with, up to the next preposition
_NO_KIND = {"diseas", "disord", "syndrom", "infect"}


def _no_wider(name: Name, others: Collection[Name]) -> set[Name]:
    """The other names of a thing, each with what makes it less than a wider one that is among them: "atrial
    fibrillation" is no name of the persistent one, but "persistent auricular fibrillation" is."""
    kinds = [set(name) - set(each) for each in others if set(each) < set(name)]
    joined = {each for each in name if any(each.startswith(part) for part in name if part != each)}  # "il2" of "il-2"
    kind = min(kinds, key=len, default=set()) - joined - _NO_KIND
    return {(*each, *sorted(kind - set(each))) for each in others}


def _lists(question: str) -> bool:
    """Whether it has "or", or a comma and behind it "and" or another comma, or a colon and a comma behind it."""
    behind_comma, behind_colon = question.partition(",")[2], question.partition(":")[2]
    return bool(re.search(r"(?i)\bor\b", question)) or bool(
        re.search(r"(?i),|\band\b", behind_comma) or "," in behind_colon
    )


def _terms_of(word: str) -> Iterator[str]:
    bare = word.strip(_EDGES)
    if bare and (bare.lower() not in QUERY_STOP_WORDS or (bare.isupper() and len(bare) > 1)):
        yield from (term for term, _ in query_terms(bare))


def _names_in(terms: Sequence[str], others: Mapping[Name, Collection[Name]]) -> Iterator[tuple[int, int]]:
    """Where names stand, the longest at each place; one word that so many abstracts have is none."""
    at = 0
    while at < len(terms):
        for length in range(min(LONGEST_NAME, len(terms) - at), 0, -1):
            name = tuple(terms[at : at + length])
            known = tuple(sorted(name)) in concepts() or name in others
            if (known and (length > 1 or name[0] not in frequent())) or name in _also():
                yield at, at + length
                at += length - 1
                break
        at += 1


@cache
def _also() -> Mapping[Name, Sequence[Name]]:
    """People, places and death by the names that are asked for, with all words that say that a paper is of them."""
    text = resources.files("bio_mcp.retrieval").joinpath("asked_also.tsv").read_text(encoding="utf-8")
    rows = ([each.split(", ") for each in line.split("\t")] for line in text.splitlines())
    return {
        tuple(analyse(name)): [tuple(analyse(each)) for each in (*asked, *said) if each]
        for asked, said in rows
        for name in asked
    }


@cache
def frequent() -> frozenset[str]:
    """Analysed words that are no subject, as one in fifty abstracts has them: "effect", "treatment", "patients"."""
    text = resources.files("bio_mcp.retrieval").joinpath("frequent_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())

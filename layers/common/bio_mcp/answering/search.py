"""How papers are found for a query: it is read with what the corpus knows of authors, words and abbreviations; both
legs search; what they find is fused, ranked by relevance feedback and quality, and shown in pages. Every search tool
uses it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import MAXYEAR
from enum import StrEnum
from heapq import nlargest
from typing import TYPE_CHECKING

from bio_mcp.deadline import NEVER, Deadline
from bio_mcp.errors import Failure, IndexUnavailable, InvalidInput
from bio_mcp.literature.identifiers import paper_identifiers
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import Passages
from bio_mcp.retrieval.analysis import analyse, query_terms, words_of
from bio_mcp.retrieval.excerpts import best_chunk
from bio_mcp.retrieval.passages import Candidate, Filters, PassageQuery
from bio_mcp.retrieval.pubmed_syntax import And, Field, Or, Term, Tree
from bio_mcp.retrieval.query import MOST_IDENTIFIERS, Kind, ReadQuery, is_pubmed_syntax, listed, read_query, unmarked
from bio_mcp.retrieval.question import (
    EVERYDAY_WEIGHT,
    expansion,
    names_in_papers,
    other_forms,
    parse_question,
    words_of_names,
)
from bio_mcp.retrieval.ranking import (
    FEEDBACK_PAPERS,
    MATCHED,
    Fused,
    Ranked,
    feedback_papers,
    fuse,
    move_towards,
    rank,
    rerank,
    terms_of,
)
from bio_mcp.retrieval.relevance import LIKELY, answerable, background, is_open, is_weak, relevance
from bio_mcp.retrieval.spelling import Spelling
from bio_mcp.retrieval.thai import THAI

if TYPE_CHECKING:
    from bio_mcp.retrieval.passages import Vectors

DEPTH = 200  # documents per leg
DEEPEST = 10_000  # of the papers that match a query
LOST = (
    "Papers are stored, and the index has none of them: it is being written, or was lost. Search again in a minute; if "
    "nobody writes it, bio-mcp admin reindex does."
)
_BY_MEANING = "None of the query's words occurs in {}: these papers were found by meaning alone."


class Sort(StrEnum):
    RELEVANCE = "relevance"
    EVIDENCE = "evidence"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Question:
    """A query to the corpus. `synonyms` adds MeSH entry terms, drug names and abbreviations to the words."""

    text: str
    filters: Filters = field(default_factory=Filters)
    quality_bias: bool = True
    synonyms: bool = True
    sort: Sort = Sort.RELEVANCE


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Ranked papers, with the analysed words and the vector of the query for excerpts.

    `filters` are those of the question, with what the query itself demands. `total` is the number of papers that match
    a query that is no question; of a question, that of those found. `warnings` are sentences for the user: an empty
    corpus, no match, matches by meaning alone. `relevance` has the probability of each ranked paper to be relevant, by
    PMID, `answerable` that of any among the first ten.
    """

    ranked: list[Ranked]
    terms: frozenset[str]
    vector: "Vectors"
    read: ReadQuery
    filters: Filters
    total: int
    warnings: tuple[str, ...] = ()
    relevance: Mapping[str, float] = field(default_factory=dict)
    answerable: float = 0.0


def search_papers(question: Question, backends: Backends, deadline: Deadline = NEVER) -> Retrieved:
    """Rank the papers that fit `question`. Papers that it names by identifier or title come first.

    Of a query that is no question, every paper matches; the best `DEPTH` by each leg are ranked, all of `DEEPEST` where
    they are sorted by evidence or there is nothing to rank by. Raises `InvalidInput` for a question without a letter or
    digit or that cannot be read, `ModelMismatch`, `EmbeddingFailed` and `IndexUnavailable`; a leg that fails never
    shortens or worsens the list.
    """
    text = readable(question.text)
    embeddings, passages = backends.embeddings, backends.passages
    passages.check_model(embeddings.fingerprint, embeddings.dim)
    deadline.check("reading the query")
    try:
        reading = _read(text, question, backends, _Corpus(passages))
    except IndexUnavailable as failure:
        reading = _read(text, question, backends, None)
        reading = replace(reading, warnings=(*reading.warnings, _NOT_LOOKED_UP.format(failure)))
    deadline.check("embedding the query")
    vector = embeddings.embed_questions([reading.meaning])[0]
    deadline.check("searching")
    candidates = _candidates(reading, vector, question.sort, backends)
    kind, pmids = reading.read.kind, [each.pmid for each in candidates]
    told: list[str] = []
    if not candidates:
        told = _why_none(kind, question.filters, backends)
    elif reading.terms and all(each.bm25 is None for each in candidates):
        others = "the papers that pass the filters" if question.filters else "the corpus"
        told = [_BY_MEANING.format(others if kind is Kind.QUESTION else "the papers that match")]
    fused = _with_feedback(candidates, reading, vector, backends) if reading.terms else dict.fromkeys(pmids, MATCHED)
    named = reading.named | _titled(candidates, reading, backends)
    ranked = rank(candidates, fused, backends.today(), quality_bias=question.quality_bias, named=named)
    behind = background(ranked, len(reading.words))
    return Retrieved(
        ranked,
        reading.words,
        vector,
        reading.read,
        reading.filters,
        len(ranked) if kind in _COUNTED else passages.matching(reading.filters, 0).total,
        (*reading.warnings, *told),
        relevance(ranked, behind) if reading.terms else dict.fromkeys(pmids, 1.0),
        answerable(ranked, behind) if reading.terms else float(bool(ranked)),
    )


LEAST_RELEVANCE = 0.1  # of a question's papers that are collected, unless it is said otherwise
_MORE = "of a question the best papers alone are found, and more may fit: AND between its words has every one with them"


@dataclass(frozen=True, slots=True)
class Fitting:
    """The papers that fit a query, the best first; `left_out` counts those that are less relevant than asked."""

    pmids: Sequence[str]
    left_out: int
    warnings: Sequence[str]


def papers_that_fit(
    query: str, backends: Backends, deadline: Deadline, least: float = LEAST_RELEVANCE, limit: int | None = None
) -> Fitting:
    """Of a question the papers of a relevance of at least `least`, of any other query all that match; `limit` takes the
    first. Raises what `search_papers` does."""
    found = search_papers(Question(query), backends, deadline)
    warnings, left_out = list(found.warnings), 0
    ranked = {each.candidate.pmid: each for each in found.ranked}
    if found.read.kind is Kind.QUESTION:
        fit = [pmid for pmid, each in ranked.items() if each.named or found.relevance[pmid] >= least]
        left_out = len(ranked) - len(fit)
        if ranked and not fit:
            best = max(found.relevance.values())
            warnings.append(
                f"none of the {len(ranked):,} papers found has a relevance of {least:g} or more: "
                f"the best has {best:.2g}"
            )
        elif len(fit) >= DEPTH:
            warnings.append(_MORE)
    else:
        fit = list(dict.fromkeys([*ranked, *backends.passages.matching(found.filters, DEEPEST).pmids]))
    total = len(fit) if found.read.kind is Kind.QUESTION else found.total
    most = limit or DEEPEST
    if total > most:
        warnings.append(f"{total:,} papers match; the first {most:,} are taken")
    return Fitting(fit[:most], left_out, warnings)


_IDENTIFYING = {"pmid": Field.PMID, "pmcid": Field.PMCID, "doi": Field.DOI}
NO_THAI = "the Thai dictionary has none of its words; ask in English, or name it in English too"
_THAI_IN_SYNTAX = "Thai words are not translated within PubMed's syntax: write them in English."
_NO_PHRASE = "No paper matches with the quotation marks or the *, so the query was read without them."
_NOT_LOOKED_UP = "Authors, misspelt words and abbreviations were not looked up: {}"


@dataclass(frozen=True, slots=True)
class _Reading:
    """A query as it was read. `words` are its terms; `terms` are looked up, with their weights; none where there is
    nothing to rank by. `meaning` is what is embedded: the words, and what papers call the things that have everyday
    names in it.

    `filters` are those of the search, with what the query itself demands; `named` are the PMIDs of papers that it names
    by an identifier. `warnings` are sentences for the user.
    """

    read: ReadQuery
    words: frozenset[str]
    terms: tuple[tuple[str, float], ...]
    meaning: str
    filters: Filters
    named: frozenset[str]
    warnings: tuple[str, ...]


def _read(written: str, question: Question, backends: Backends, corpus: "_Corpus | None") -> _Reading:
    """Read a query, without words and names of the corpus where it is None.

    Raises `InvalidInput` for PubMed's syntax that cannot be read, and for Thai of which the dictionary has no word, and
    `IndexUnavailable` where the index is too old to be asked.
    """
    written, told = _in_english(written)
    asked = (corpus.knows_author, corpus.correct) if corpus else ()
    query = read_query(written, *asked)
    plain = unmarked(written) if query.kind is Kind.BOOLEAN else None
    if plain and not backends.passages.matching(_narrowed(question.filters, query.tree), 0).total:
        query = read_query(plain, *asked)
        query = replace(query, notes=(*query.notes, _NO_PHRASE))
    named: frozenset[str] = frozenset()
    if query.identifiers:
        named, missing = _identified(query.identifiers, question.filters, backends)
        told += missing
    words = query_terms(query.words) if query.words else ()
    called = names_in_papers([term for term, _ in words]) if question.synonyms else []

    def others(terms: list[str]) -> list[tuple[str, float]]:
        """What is looked up too."""
        everyday = [(term, EVERYDAY_WEIGHT) for name in called for term, _ in query_terms(name)]
        forms = other_forms(query.words, terms, corpus.passages.other_names, corpus.papers) if corpus else []
        return [*everyday, *forms, *expansion(terms)]

    terms = query_terms(query.words, others) if words and question.synonyms else words
    if called:
        query = replace(query, text=f"{query.text} Also looked up: {', '.join(called)}.")
    filters = question.filters
    if query.kind is not Kind.QUESTION:
        demanded = _any_of(query.identifiers) if query.kind is Kind.IDENTIFIER else query.tree
        filters = _narrowed(filters, demanded)
    return _Reading(
        query,
        frozenset(term for term, _ in words),
        terms,
        f"{query.words} ({', '.join(called)})" if called else query.words or written,
        filters,
        named,
        (*told, *query.notes),
    )


def _in_english(written: str) -> tuple[str, list[str]]:
    """A query with its Thai words in English, and what its user should know."""
    if not THAI.search(written):
        return written, []
    if is_pubmed_syntax(written):
        return written, [_THAI_IN_SYNTAX]
    thai = parse_question(written)
    if not thai.english:
        raise InvalidInput(NO_THAI, field="query")
    return thai.english, thai.told


def _narrowed(filters: Filters, tree: Tree | None) -> Filters:
    """The filters that also demand `tree`."""
    both = And((filters.tree, tree)) if filters.tree and tree else filters.tree or tree
    return replace(filters, tree=both)


def _identified(identifiers: Sequence[str], filters: Filters, backends: Backends) -> tuple[frozenset[str], list[str]]:
    """The PMIDs of the papers that have an identifier, and a sentence on those that no paper has."""
    pmids = backends.passages.matching(_narrowed(filters, _any_of(identifiers)), MOST_IDENTIFIERS).pmids
    had = {f"pmid:{each}" for each in pmids}
    if not had.issuperset(identifiers):
        stored = backends.documents.get_many(pmids).values()
        had.update(each for document in stored for each in paper_identifiers(document.article))
    absent = [each for each in identifiers if each not in had]
    where = "among the papers that pass the filters" if filters else "in the corpus"
    told = f"{listed(absent)} {'is' if len(absent) == 1 else 'are'} not {where}."
    return frozenset(pmids), [told] if absent else []


def _any_of(identifiers: Sequence[str]) -> Tree:
    """What finds the papers of some identifiers."""
    parts = (each.partition(":") for each in identifiers)
    return Or(tuple(Term(_IDENTIFYING[kind], (number,)) for kind, _, number in parts))


@dataclass(slots=True)
class _Corpus:
    """What is known of words and names. An index that is too old to be asked raises `IndexUnavailable`."""

    passages: Passages

    def knows_author(self, name: Term) -> bool:
        return self.passages.matching(Filters(tree=name), 0).total > 0

    def correct(self, word: str) -> str | None:
        """The right spelling of a word. One that a name of a disease or drug has, or of which a paper has another form,
        is no misspelt one."""
        terms = analyse(word)
        if words_of_names().issuperset(terms):
            return None
        like = self.passages.words_like(word)
        right = None if word in dict(like) else Spelling(like).correct(word)
        has_form = right and self.passages.hybrid_search(
            PassageQuery(tuple((each, 1.0) for each in terms), None, depth=1)
        )
        return None if has_form else right

    def papers(self, word: str) -> int:
        """How many papers have a word in title, abstract or keywords."""
        return self.passages.matching(Filters(tree=Term(Field.TITLE_ABSTRACT, (word,))), 0).total


BY_WORDS = 3  # best papers whose titles are read


def _titled(candidates: Sequence[Candidate], reading: _Reading, backends: Backends) -> set[str]:
    """The PMIDs of papers whose title has all of the question in it: such a one is among the best by words."""
    if not reading.read.title:
        return set()
    by_words = nlargest(BY_WORDS, ((each.bm25, int(each.pmid)) for each in candidates if each.bm25 is not None))
    documents = backends.documents.get_many([str(pmid) for _, pmid in by_words])
    title = f" {' '.join(reading.read.title)} "
    return {pmid for pmid, each in documents.items() if title in f" {' '.join(words_of(each.article.title or ''))} "}


_COUNTED = (Kind.QUESTION, Kind.IDENTIFIER)  # whose papers are all ranked


def _candidates(reading: _Reading, vector: "Vectors", sort: Sort, backends: Backends) -> list[Candidate]:
    is_deep = reading.read.kind is not Kind.QUESTION and (sort is Sort.EVIDENCE or not reading.terms)
    query = PassageQuery(reading.terms, vector, reading.filters, DEEPEST if is_deep else DEPTH)
    candidates = backends.passages.hybrid_search(query)
    if far := reading.named - {each.pmid for each in candidates}:
        candidates += backends.passages.hybrid_search(replace(query, depth=len(far), within=far))
    return candidates


EARLIEST_YEAR = 1600  # the first journals are of 1665


def check_years(first: int | None, last: int | None) -> None:
    """Raise `InvalidInput` for a year in which nothing was published, and for a range that ends before it begins."""
    for which, year in (("filters.year_from", first), ("filters.year_to", last)):
        if year is not None and not EARLIEST_YEAR <= year <= MAXYEAR:
            raise InvalidInput(f"{year} is no year of publication; give one such as 2021", field=which)
    if first and last and first > last:
        raise InvalidInput(f"{first} is after the last year, {last}", field="filters.year_from")


def readable(text: str) -> str:
    """Return `text` as valid Unicode. Raises `InvalidInput` when it has no letter or digit."""
    valid = text.encode("utf-8", "replace").decode()
    if not any(character.isalnum() for character in valid):
        raise InvalidInput("it has no word; say what to look for, as you would ask a librarian", field="query")
    return valid


def _with_feedback(
    candidates: Sequence[Candidate], reading: _Reading, vector: "Vectors", backends: Backends
) -> dict[str, Fused]:
    """Fuse, add the best papers' meaning and words to the query, score the same candidates by it, fuse again.

    With fewer than `FEEDBACK_PAPERS` papers that are not retracted, the first fusion stands.
    """
    first = fuse(candidates, DEPTH)
    best = feedback_papers(candidates, first)
    if len(best) < FEEDBACK_PAPERS:
        return first
    passages, windows = backends.passages, {each.pmid: each.chunk_id for each in candidates}
    vectors, chunks = passages.document_vectors(best), passages.chunks(best)
    there = [pmid for pmid in best if pmid in vectors and pmid in chunks]
    nearer = move_towards(vector, [(first[pmid].score, vectors[pmid]) for pmid in there])
    texts = [(first[pmid].score, best_chunk(chunks[pmid], windows[pmid], reading.words).text) for pmid in there]
    pmids = frozenset(windows)
    query = PassageQuery((*reading.terms, *terms_of(texts)), nearer, reading.filters, len(pmids), within=pmids)
    second = fuse(passages.hybrid_search(query), DEPTH)
    return {pmid: second.get(pmid, Fused(0.0, 0.0)) for pmid in pmids}


def _why_none(kind: Kind, filters: Filters, backends: Backends) -> list[str]:
    """A sentence for the user on an empty corpus or an empty result.

    Raises `IndexUnavailable` where papers are stored, and none is in the index.
    """
    if backends.passages.count()[0] == 0:
        if backends.documents.count():
            raise IndexUnavailable(LOST)
        return ["The corpus is empty. Sync a PubMed query or import PubMed XML files first."]
    if kind is Kind.QUESTION:
        return ["No paper in the corpus passes the filters." if filters else "No paper in the corpus fits the query."]
    if kind is Kind.IDENTIFIER:  # which were named
        return []
    return [f"No paper in the corpus matches the query{' and passes the filters' if filters else ''}."]


BEST = 30  # papers that are read; the others stay behind them
FAILED = "The reranker did not answer, so the hits are in the order of the search: {}"


def find_reranked(question: Question, backends: Backends, deadline: Deadline = NEVER) -> Retrieved:
    """Find papers as `search_papers` does, with the best `BEST` in the order of the reranker, if there is one.

    Where it fails the order is that of the search, and a warning says why. Raises what `search_papers` raises, and
    `DeadlineExceeded` only where the call's own time is over.
    """
    retrieved = search_papers(question, backends, deadline)
    reranker, words = backends.reranker, retrieved.read.words
    if reranker is None or len(retrieved.ranked) < 2 or not words or question.sort is not Sort.RELEVANCE:
        return retrieved
    texts = _texts(retrieved.ranked[:BEST], retrieved, backends)
    if not texts:
        return retrieved
    try:
        scores = reranker.scores(words, list(texts.values()), deadline)
    except Failure as failure:
        deadline.check("answering in the order of the search")
        return replace(retrieved, warnings=(*retrieved.warnings, FAILED.format(failure)))
    return replace(retrieved, ranked=rerank(retrieved.ranked, dict(zip(texts, scores, strict=True))))


def _texts(best: Sequence[Ranked], retrieved: Retrieved, backends: Backends) -> dict[str, str]:
    """The title and the best passage of each paper that is still there, by PMID."""
    pmids, texts = [each.candidate.pmid for each in best], {}
    documents, chunks = backends.documents.get_many(pmids), backends.passages.chunks(pmids, None)
    for each in best:
        pmid = each.candidate.pmid
        if pmid in documents and chunks.get(pmid):
            title = documents[pmid].article.title or ""
            passage = best_chunk(chunks[pmid], each.candidate.chunk_id, retrieved.terms).text
            texts[pmid] = passage if passage.startswith(title) else f"{title} {passage}"
    return texts


@dataclass(frozen=True, slots=True)
class Page:
    """Some papers of what was found, in their order. `total` counts all pages' papers, `reachable` those that pages can
    be made of, `weak` those that are left out of all."""

    places: list[Ranked]
    total: int
    reachable: int
    weak: int = 0


WEAK_SHOWN = 3  # where every match is weak
READ = 100  # papers, to see what connects them with a question


def page(
    retrieved: Retrieved, sort: Sort, first: int, most: int, backends: Backends, *, without: Collection[str] = ()
) -> Page:
    """At most `most` papers from place `first` on, which is counted from 0.

    Those of a question are left out that are unconnected with it (`without`) and hardly relevant, but for the best
    `WEAK_SHOWN` where there are no others. What matches another query and is not among the best is behind them, the
    newest first.
    """
    is_question = retrieved.read.kind is Kind.QUESTION
    fitting = [
        each
        for each in retrieved.ranked
        if each.candidate.pmid not in without or retrieved.relevance[each.candidate.pmid] >= LIKELY
    ]
    ranked = fitting or retrieved.ranked[:WEAK_SHOWN]
    total = len(ranked) if is_question else retrieved.total
    known = {each.candidate.pmid: each for each in ranked}
    match sort:
        case Sort.EVIDENCE:
            order = sorted(known, key=lambda pmid: (-known[pmid].quality_points, -known[pmid].score, -int(pmid)))
        case Sort.DATE:
            among = Filters(tree=_any_of([f"pmid:{pmid}" for pmid in known])) if is_question else retrieved.filters
            order = list(backends.passages.matching(among, DEEPEST).pmids) if known else []
        case Sort.RELEVANCE:
            order = list(known)
            if total > len(order) and first + most > len(order):
                newest = backends.passages.matching(retrieved.filters, min(DEEPEST, first + most + 2 * DEPTH)).pmids
                order += [pmid for pmid in newest if pmid not in known]
    wanted = order[first : first + most]
    if others := frozenset(wanted).difference(known):
        known |= _unranked(others, retrieved, backends)
    weak = len(retrieved.ranked) - len(ranked)
    return Page([known[pmid] for pmid in wanted if pmid in known], total, min(total, DEEPEST), weak)


_UNRANKED = Fused(0.0, 0.0)


def _unranked(pmids: frozenset[str], retrieved: Retrieved, backends: Backends) -> dict[str, Ranked]:
    """Papers that match and were not ranked, by PMID."""
    query = PassageQuery((), retrieved.vector, Filters(), len(pmids), within=pmids)
    candidates = backends.passages.hybrid_search(query)
    fused = dict.fromkeys((each.pmid for each in candidates), _UNRANKED)
    placed = rank(candidates, fused, backends.today(), quality_bias=all(each.biased for each in retrieved.ranked))
    return {each.candidate.pmid: each for each in placed}


def unconnected(retrieved: Retrieved, backends: Backends) -> frozenset[str]:
    """The PMIDs of the ranked papers that neither meaning nor words connect with a question.

    Those of the best `READ` are read whose cosine leaves it open; behind them the words do not count.
    """
    if retrieved.read.kind is not Kind.QUESTION:
        return frozenset()
    unread = [each for each in retrieved.ranked[:READ] if not each.named and is_open(each.candidate.sim)]
    texts = _texts(unread, retrieved, backends)
    papers = [each.candidate for each in retrieved.ranked if not each.named]
    return frozenset(each.pmid for each in papers if is_weak(each.sim, texts.get(each.pmid, ""), retrieved.terms))

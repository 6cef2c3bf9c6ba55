"""Backends that return what a call was given when it was recorded, and change nothing."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, cast

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, NotFound, UpstreamFailed
from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends
from bio_mcp.ports.language_models import Generated
from bio_mcp.ports.projects import Project
from bio_mcp.replaying.reads import MULTILINGUAL, Reads, Sims, multilingual_key, passages_key, search_key
from bio_mcp.retrieval.chunking import chunks_of
from bio_mcp.retrieval.passages import Candidate, Filters, PassageQuery, StoredChunk


class Diverged(Failure):
    """The code asks for something else than it did when the call was recorded."""


class Recorded:
    """`Backends` over `backends`, with the corpus as `reads` has it. Papers are read at their versions of then.

    Raises `NotFound` where a version is no longer stored. Embeddings, graph and projects are those of now.
    """

    def __init__(self, backends: Backends, reads: Reads) -> None:
        self._backends = backends
        self._reads = reads
        papers = {pmid: _then(backends, pmid, *each) for pmid, each in reads.papers.items() if each is not None}
        self.documents = _Documents(papers, reads.resolved)
        self.passages = _Passages(backends, reads, papers)
        asked_it = any(key.startswith(MULTILINGUAL) for key, _ in reads.searches)
        self.multilingual = self.passages if asked_it else None
        self.projects = backends.projects if "projects" in reads.elsewhere else _NoProjects()
        self.answers = _Answers(backends)
        self.reranker = None  # what one makes of hits is not recorded, and such a call is not read as it was then
        self.language_model = None if reads.generated is None else _LanguageModel(backends, reads.generated)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backends, name)

    def today(self) -> date:
        """Return the day that it was."""
        return date.fromisoformat(self._reads.day) if self._reads.day else self._backends.today()

    @property
    def recorder(self) -> None:
        """A replay is not recorded."""
        return

    @property
    def backends(self) -> Backends:
        """This object, as what it stands for."""
        return cast(Backends, self)


class Unstored:
    """`Backends` over others on the day of then, which store no answer and record no call."""

    def __init__(self, backends: Backends, day: str | None) -> None:
        self._backends = backends
        self._day = day
        self.answers = _Answers(backends)
        self.recorder = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backends, name)

    def today(self) -> date:
        """Return the day that it was."""
        return date.fromisoformat(self._day) if self._day else self._backends.today()

    @property
    def backends(self) -> Backends:
        """This object, as what it stands for."""
        return cast(Backends, self)


def _then(backends: Backends, pmid: str, version: int, indexed_version: int) -> Document:
    document = backends.documents.at_version(pmid, version)
    return Document(document.article, document.content_hash, version, indexed_version)


class _Documents:
    def __init__(self, papers: Mapping[str, Document], resolved: Mapping[str, str | None]) -> None:
        self._papers, self._resolved = papers, resolved

    def get(self, pmid: str) -> Document:
        if pmid not in self._papers:
            raise NotFound(f"PMID {pmid} is not in the corpus; sync or import it first")
        return self._papers[pmid]

    def get_many(self, pmids: Sequence[str]) -> dict[str, Document]:
        return {pmid: self._papers[pmid] for pmid in pmids if pmid in self._papers}

    def resolve(self, identifiers: Sequence[str]) -> dict[str, str]:
        return {each: pmid for each in identifiers if (pmid := self._resolved.get(each))}

    def count(self) -> int:
        """None: it is asked where the index is empty, and the call then ended because the store was, too."""
        return 0


class _Passages:
    def __init__(self, backends: Backends, reads: Reads, papers: Mapping[str, Document]) -> None:
        self._embeddings, self._papers = backends.embeddings, papers
        self._searches, self._passages, self._counts = list(reads.searches), list(reads.passages), list(reads.counts)

    def check_model(self, fingerprint: str, dim: int) -> None:
        """Any model: what it found is recorded."""

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        found: list[Candidate] = _next(self._searches, search_key(query))
        return found

    def search(self, text: str, filters: Filters, depth: int) -> list[Candidate]:
        """What the multilingual index found."""
        found: list[Candidate] = _next(self._searches, multilingual_key(text, filters, depth))
        return found

    def document_vectors(self, _pmids: Sequence[str]) -> dict[str, Any]:
        """None: vectors only lead to what is recorded."""
        return {}

    def chunks(self, pmids: Sequence[str], vector: Any = None) -> dict[str, list[StoredChunk]]:
        sims: Sims = _next(self._passages, passages_key(pmids, scored=vector is not None))
        return {pmid: self._chunks_of(pmid, found) for pmid, found in sims.items() if pmid in self._papers}

    def count(self) -> tuple[int, int]:
        if not self._counts:
            raise Diverged("the code counts the papers, which it did not then")
        return self._counts.pop(0)

    def _chunks_of(self, pmid: str, found: Sequence[tuple[str, float | None]]) -> list[StoredChunk]:
        cut = chunks_of(self._papers[pmid].article, self._embeddings.count_tokens, self._embeddings.max_tokens)
        by_id = {each.chunk_id: each for each in cut}
        if not by_id.keys() >= {chunk_id for chunk_id, _ in found}:
            raise Diverged(f"the code cuts PMID {pmid} into other passages than it did then")
        chunks = [(by_id[chunk_id], sim) for chunk_id, sim in found]
        return [StoredChunk(pmid, c.chunk_id, c.text, c.section, c.char_start, c.char_end, sim) for c, sim in chunks]


def _next(recorded: list[tuple[str, Any]], key: str) -> Any:
    """The first that is recorded under `key`, which is taken out."""
    place = next((at for at, (name, _) in enumerate(recorded) if name == key), None)
    if place is None:
        raise Diverged("the code asks the index for something else than it did then")
    return recorded.pop(place)[1]


class _NoProjects:
    """That there were none."""

    def all(self) -> list[Project]:
        return []


class _Answers:
    """Answers that are not stored again."""

    def __init__(self, backends: Backends) -> None:
        self._backends = backends

    def put(self, _answer: Any) -> None:
        """Nothing: the answer was stored when it was given."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backends.answers, name)


class _LanguageModel:
    """The language model as it answered then."""

    def __init__(self, backends: Backends, generated: Sequence[tuple[bool, str]]) -> None:
        self._backends, self._generated = backends, list(generated)

    @property
    def fingerprint(self) -> str:
        model = self._backends.language_model
        return model.fingerprint if model else ""

    def generate(self, _question: str, _passages: Sequence[str], _deadline: Deadline) -> Generated:
        if not self._generated:
            raise Diverged("the code asks the language model more often than it did then")
        wrote, text = self._generated.pop(0)
        if not wrote:
            raise UpstreamFailed(text)
        return Generated(text)

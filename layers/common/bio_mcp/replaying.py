"""Replay a recorded call: on what it read then, and on what is stored now; and say which of its inputs moved."""

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from types import SimpleNamespace
from typing import Any

from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Failure, NotFound, UpstreamFailed
from bio_mcp.literature.records import Document
from bio_mcp.ports import Backends, BackendsOver, PortOver
from bio_mcp.ports.models import Generated
from bio_mcp.ports.state import CallRecord
from bio_mcp.recording import Reads, Sims, inputs_of, key_of, loads, matching_key, search_key
from bio_mcp.retrieval.chunking import chunks_of
from bio_mcp.retrieval.passages import Candidate, Filters, Matching, OtherName, PassageQuery, StoredChunk
from bio_mcp.tenants import CallBackends
from bio_mcp.tool import Tool

CORPUS = "corpus"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PapersMoved:
    """How the papers that the call saw differ from those that it would see now, by PMID.

    `rescored` counts those among both that words or meaning score differently.
    """

    revised: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    rescored: int = 0


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of it. `as_then` is whether the answer on the corpus of then is the recorded one, None where that
    corpus is no longer stored; `today` the same for the corpus of now.

    `moved` names inputs that explain a difference: corpus, model, reranker, language_model, graph, projects, rules,
    code; unknown where none does. `papers` has what of the corpus moved; `because` why that of then cannot be read.
    """

    recorded: CallRecord
    as_then: bool | None
    today: bool
    moved: tuple[str, ...]
    papers: PapersMoved = field(default_factory=PapersMoved)
    because: str | None = None

    @property
    def equal(self) -> bool:
        """Whether nothing moved that the answer shows."""
        return self.today and self.as_then is not False


def replay(correlation_id: str, backends: Backends, tools: Mapping[str, Tool]) -> Replay:
    """Replay the call. Raises `NotFound` where the log does not have it, or this version not its tool; `StoreFailed`.

    Nothing is stored by it. A language model that took part is asked again for the answer of now.
    """
    record = backends.calls.get(correlation_id)
    if record.tool not in tools:
        raise NotFound(f"this version has no tool {record.tool}, which was called")
    tool, reads = tools[record.tool], loads(record.read)
    as_then, because = None, None
    graph = ["graph"] if reads.graph is not None and backends.graph.revision() != reads.graph else []
    if lost := [*graph, *sorted(reads.elsewhere)]:
        because = f"what was read of {', '.join(lost)} is not recorded"
    else:
        try:
            as_then = call(tool, record.arguments, ReplayBackends(backends, reads)).audit["out_hash"] == record.out_hash
        except NotFound as gone:
            because = str(gone)
    watched = CallBackends(ReadOnlyBackends(backends, reads.day), None, trace=(now := Reads()))
    today = call(tool, record.arguments, watched).audit["out_hash"] == record.out_hash
    papers, inputs, elsewhere = _papers_moved(reads, now), inputs_of(backends, now), reads.elsewhere | now.elsewhere
    changed = [name for name, then in record.inputs.items() if inputs.get(name, then) != then]
    other = papers != PapersMoved() or reads.asked != now.asked
    return Replay(
        record, as_then, today, _moved(as_then, today, changed, elsewhere, other_corpus=other), papers, because
    )


def _moved(
    as_then: bool | None, today: bool, changed: list[str], elsewhere: Set[str], *, other_corpus: bool
) -> tuple[str, ...]:
    """The inputs that explain why the answer differs; none where it does not.

    Where the answer on the corpus of then is the recorded one, code and rules explain nothing.
    """
    if today and as_then is not False:
        return ()
    corpus = [CORPUS] if other_corpus and not today else []
    projects = ["projects"] if elsewhere & {"projects", "collections"} and not today else []
    others = [name for name in changed if as_then is not True or name not in ("code", "rules")]
    return (*corpus, *projects, *others) or (UNKNOWN,)


def _papers_moved(then: Reads, now: Reads) -> PapersMoved:
    before, after = (
        {pmid: versions[0] if versions else 0 for pmid, versions in reads.papers.items()} for reads in (then, now)
    )
    other = {pmid for pmid in before.keys() & after.keys() if before[pmid] != after[pmid]}
    old, new = _scores(then), _scores(now)
    came = {pmid for pmid in other if not before[pmid]}
    went = {pmid for pmid in other if not after[pmid]}
    revised, new_ones, gone = (
        tuple(sorted(pmids, key=int))
        for pmids in (other - came - went, (new.keys() - old.keys()) | came, (old.keys() - new.keys()) | went)
    )
    return PapersMoved(revised, new_ones, gone, sum(old[pmid] != new[pmid] for pmid in old.keys() & new.keys()))


def _scores(reads: Reads) -> dict[str, list[Any]]:
    """PMID -> the scores that it got, to four digits: the last ones differ between equal searches."""
    scores: dict[str, list[Any]] = {}
    for _, found in reads.searches:
        for each in found:
            rounded = [None if score is None else f"{score:.4g}" for score in (each.bm25, each.sim)]
            scores.setdefault(each.pmid, []).append(rounded)
    return scores


class Diverged(Failure):
    """The code asks for something else than it did when the call was recorded."""


class ReadOnlyBackends(BackendsOver):
    """Other backends on the day of then, which store no answer; no call is recorded."""

    def __init__(self, backends: Backends, day: str | None) -> None:
        super().__init__(backends)
        if day:
            self.__dict__["today"] = lambda: date.fromisoformat(day)

    def find_port(self, name: str) -> Any:
        found = super().find_port(name)
        return _Answers(found) if name == "answers" else found


class ReplayBackends(ReadOnlyBackends):
    """Other backends, with the corpus as `reads` has it: papers at their versions of then, on the day of then.

    Raises `NotFound` where a version is no longer stored. Embeddings, graph and projects are those of now. Nothing is
    stored, and no call is recorded.
    """

    def __init__(self, backends: Backends, reads: Reads) -> None:
        super().__init__(backends, reads.day)
        papers = {}
        for pmid, versions in reads.papers.items():
            if versions is not None:
                papers[pmid] = replace(backends.documents.at_version(pmid, versions[0]), indexed_version=versions[1])
        model = None if reads.generated is None else backends.language_model
        fingerprint = model.fingerprint if model else ""
        self.__dict__ |= {
            "documents": _Documents(papers, reads.resolved),
            "passages": _Passages(backends, reads, papers),
            "reranker": None,  # what one makes of hits is not recorded, and such a call is not read as it was then
            "language_model": None if reads.generated is None else _LanguageModel(fingerprint, [*reads.generated]),
        }
        if "projects" not in reads.elsewhere:
            self.__dict__["projects"] = SimpleNamespace(all=list)


@dataclass
class _Documents:
    _papers: Mapping[str, Document]
    _resolved: Mapping[str, str | None]

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
        self._asked = list(reads.asked)

    def check_model(self, fingerprint: str, dim: int) -> None:
        """Any model: what it found is recorded."""

    def hybrid_search(self, query: PassageQuery) -> list[Candidate]:
        found: list[Candidate] = _next(self._searches, search_key(query))
        return found

    def document_vectors(self, _pmids: Sequence[str]) -> dict[str, Any]:
        """None: vectors only lead to what is recorded."""
        return {}

    def chunks(self, pmids: Sequence[str], vector: Any = None) -> dict[str, list[StoredChunk]]:
        sims: Sims = _next(self._passages, key_of(sorted(pmids), vector is not None))
        return {pmid: self._chunks_of(pmid, found) for pmid, found in sims.items() if pmid in self._papers}

    def count(self) -> tuple[int, int]:
        if not self._counts:
            raise Diverged("the code counts the papers, which it did not then")
        return self._counts.pop(0)

    def matching(self, filters: Filters, most: int) -> Matching:
        total, pmids = _next(self._asked, matching_key(filters, most))
        return Matching(total, tuple(pmids))

    def words_like(self, word: str) -> list[tuple[str, int]]:
        return [(like, papers) for like, papers in _next(self._asked, key_of("words like", word))]

    def other_names(self, names: Collection[str]) -> list[OtherName]:
        return [OtherName(*each) for each in _next(self._asked, key_of("other names", sorted(names)))]

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


class _Answers(PortOver):
    def put(self, _answer: Any) -> None:
        """Nothing: the answer was stored when it was given."""


@dataclass
class _LanguageModel:
    """The language model as it answered then."""

    fingerprint: str
    _generated: list[tuple[bool, str]]

    def generate(self, _question: str, _passages: Sequence[str], _deadline: Deadline) -> Generated:
        if not self._generated:
            raise Diverged("the code asks the language model more often than it did then")
        wrote, text = self._generated.pop(0)
        if not wrote:
            raise UpstreamFailed(text)
        return Generated(text)

"""Replay a recorded call: on what it read then, and on what is stored now; and say which of its inputs moved."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from bio_mcp.call import Outcome, call
from bio_mcp.errors import NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.calls import CallRecord
from bio_mcp.replaying.inputs import inputs_of
from bio_mcp.replaying.reads import Reads, loads
from bio_mcp.replaying.recorded import Recorded, Unstored
from bio_mcp.replaying.watching import Watched
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

    def __bool__(self) -> bool:
        return bool(self.revised or self.new or self.gone or self.rescored)


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
    as_then, because = _as_then(record, tool, reads, backends)
    watched = Watched(Unstored(backends, reads.day).backends)
    today = _is_same(call(tool, record.arguments, watched.backends), record)
    now = watched.notes.reads()
    papers = _papers_moved(reads, now)
    changed, elsewhere = _changed(record.inputs, inputs_of(backends, now)), reads.elsewhere | now.elsewhere
    return Replay(record, as_then, today, _moved(as_then, today, changed, papers, elsewhere), papers, because)


def _as_then(record: CallRecord, tool: Tool, reads: Reads, backends: Backends) -> tuple[bool | None, str | None]:
    """Whether the answer on what was read then is the recorded one, or why that cannot be said."""
    graph = ["graph"] if reads.graph is not None and backends.graph.revision() != reads.graph else []
    if lost := [*graph, *sorted(reads.elsewhere)]:
        return None, f"what was read of {', '.join(lost)} is not recorded"
    try:
        then = Recorded(backends, reads)
    except NotFound as gone:
        return None, str(gone)
    return _is_same(call(tool, record.arguments, then.backends), record), None


def _is_same(outcome: Outcome, record: CallRecord) -> bool:
    return bool(outcome.audit["out_hash"] == record.out_hash)


def _changed(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    return [name for name in then if name in now and now[name] != then[name]]


def _moved(
    as_then: bool | None, today: bool, changed: list[str], papers: PapersMoved, elsewhere: Set[str]
) -> tuple[str, ...]:
    """The inputs that explain why the answer differs; none where it does not.

    Where the answer on the corpus of then is the recorded one, code and rules explain nothing.
    """
    if today and as_then is not False:
        return ()
    corpus = [CORPUS] if papers and not today else []
    projects = ["projects"] if elsewhere & {"projects", "collections"} and not today else []
    others = [name for name in changed if as_then is not True or name not in ("code", "rules")]
    return (*corpus, *projects, *others) or (UNKNOWN,)


def _papers_moved(then: Reads, now: Reads) -> PapersMoved:
    both = then.papers.keys() & now.papers.keys()
    revised = {pmid for pmid in both if _version(then.papers[pmid]) != _version(now.papers[pmid])}
    old, new = _scores(then), _scores(now)
    return PapersMoved(
        _sorted(pmid for pmid in revised if then.papers[pmid] and now.papers[pmid]),
        _sorted({*(new.keys() - old.keys()), *(pmid for pmid in revised if not then.papers[pmid])}),
        _sorted({*(old.keys() - new.keys()), *(pmid for pmid in revised if not now.papers[pmid])}),
        sum(old[pmid] != new[pmid] for pmid in old.keys() & new.keys()),
    )


def _version(stored: tuple[int, int] | None) -> int:
    return stored[0] if stored else 0


def _scores(reads: Reads) -> dict[str, list[Any]]:
    """PMID -> the scores that it got, to four digits: the last ones differ between equal searches."""
    scores: dict[str, list[Any]] = {}
    for _, found in reads.searches:
        for each in found:
            scores.setdefault(each.pmid, []).append([_rounded(each.bm25), _rounded(each.sim)])
    return scores


def _rounded(score: float | None) -> float | None:
    return None if score is None else float(f"{score:.4g}")


def _sorted(pmids: Any) -> tuple[str, ...]:
    return tuple(sorted(pmids, key=lambda pmid: (len(pmid), pmid)))

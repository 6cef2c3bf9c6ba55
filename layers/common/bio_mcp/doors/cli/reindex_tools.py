"""What `bio-mcp reindex` calls: the steps of a change of the embedding model, or of the index's settings."""

from dataclasses import asdict

from bio_mcp.errors import Conflict
from bio_mcp.evaluating.comparing import Comparison, compare
from bio_mcp.ports import Backends
from bio_mcp.ports.indexes import PaperIndex, Role
from bio_mcp.syncing import reindexing
from bio_mcp.syncing.importing import corpus_size
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.evaluate import SETS, questions_of
from bio_mcp.tools.families import BIO_MCP

WEEK = 7 * 24 * 3600


class Reindex(Request):
    """No arguments."""

    pass


class Reindexed(Response):
    """The size of the new index; `another_model` if it replaced one of another model."""

    another_model: bool
    documents: int
    indexed: int
    chunks: int


class StartRequest(Request):
    """The name of an installed model, the configured one if empty; `force` makes a like index again."""

    model: str = ""
    force: bool = False


class CompareRequest(Request):
    """Which questions to ask: smoke, curated, or a file of JSON lines; `unchecked` switches without."""

    set: str = "curated"
    unchecked: bool = False


class ComparedFigure(Response):
    """A figure of both indexes, and the 95 % interval of their difference, of which a decrease is `tolerated`."""

    name: str
    searched: float
    next: float
    low: float
    high: float
    questions: int
    tolerated: float


class Compared(Response):
    """What both indexes find; `overlap` is the share of the first ten papers that they have in common."""

    figures: list[ComparedFigure]
    overlap: float
    overlap_low: float
    overlap_high: float
    worse: list[str]


class IndexState(Response):
    """An index by its role; `behind` counts the papers that the searched one has and it lacks, or has older.

    `settings` says how it was made, where there is a choice.
    """

    role: str
    model: str
    settings: str
    papers: int
    chunks: int
    behind: int


class IndexStates(Response):
    """The indexes of the papers, the searched one first."""

    indexes: list[IndexState]


@tool("corpus.reindex", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def reindex_corpus(request: Reindex, backends: Backends, context: Context) -> Reindexed:  # noqa: ARG001  a tool's form
    """Rebuild the passages of every stored paper, and the whole index if it was made by another model."""
    another = reindexing.reindex(backends, context.progress)
    size = corpus_size(backends)
    return Reindexed(another_model=another, documents=size.documents, indexed=size.indexed, chunks=size.chunks)


@tool("corpus.reindex.start", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def start_reindex(request: StartRequest, backends: Backends, context: Context) -> IndexStates:
    """Fill an index of another model, or with other settings, beside the one that is searched."""
    index = reindexing.begin(backends.models.named(request.model), backends, force=request.force)
    reindexing.fill(index, backends, context.progress)
    return _states(backends)


@tool("corpus.reindex.status", family=BIO_MCP, scope="admin", timeout=600, read_only=False)
def reindex_status(request: Reindex, backends: Backends) -> IndexStates:  # noqa: ARG001  a tool's form
    """Say which indexes there are, and what each lacks."""
    return _states(backends)


@tool("corpus.reindex.compare", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def compare_indexes(request: CompareRequest, backends: Backends, context: Context) -> Compared:
    """Ask judged questions of the searched index and of the next one."""
    found = _comparison(request, backends, context)
    return Compared(
        figures=[ComparedFigure(**asdict(each)) for each in found.differences],
        overlap=found.overlap,
        overlap_low=found.overlap_low,
        overlap_high=found.overlap_high,
        worse=[each.name for each in found.worse],
    )


@tool("corpus.reindex.switch", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def switch_index(request: CompareRequest, backends: Backends, context: Context) -> IndexStates:
    """Search the next index from now on, unless it finds less."""
    if not request.unchecked and (worse := _comparison(request, backends, context).worse):
        figures = ", ".join(f"{each.name} {each.next:.3f} against {each.searched:.3f}" for each in worse)
        raise Conflict(f"The next index finds less: {figures}. Switch all the same with --unchecked.", retryable=False)
    reindexing.switch(Role.NEXT, backends, context.progress)
    return _states(backends)


@tool("corpus.reindex.rollback", family=BIO_MCP, scope="admin", timeout=WEEK, read_only=False)
def roll_back_index(request: Reindex, backends: Backends, context: Context) -> IndexStates:  # noqa: ARG001
    """Search the previous index again."""
    reindexing.switch(Role.PREVIOUS, backends, context.progress)
    return _states(backends)


@tool("corpus.reindex.remove", family=BIO_MCP, scope="admin", timeout=600, read_only=False)
def remove_index(request: Reindex, backends: Backends) -> IndexStates:  # noqa: ARG001  a tool's form
    """Delete the index that is not searched."""
    backends.indexes.remove()
    return _states(backends)


def _comparison(request: CompareRequest, backends: Backends, context: Context) -> Comparison:
    """What both indexes find, once the next one has every paper."""
    searched, other = (reindexing.of_role(each, backends) for each in (Role.SEARCHED, Role.NEXT))
    reindexing.fill(other, backends, context.progress)
    name, uri = (request.set, None) if request.set in SETS else ("custom", request.set)
    questions, _ = questions_of(name, uri, backends, context.local)
    return compare(questions, searched, other, backends, context.deadline, context.progress)


def _states(backends: Backends) -> IndexStates:
    return IndexStates(indexes=[_state(each, backends) for each in backends.indexes.all()])


def _state(index: PaperIndex, backends: Backends) -> IndexState:
    papers, chunks = index.passages.count()
    behind = 0 if index.role is Role.SEARCHED else sum(1 for _ in reindexing.behind(index, backends))
    return IndexState(
        role=index.role,
        model=index.fingerprint,
        settings=index.settings,
        papers=papers,
        chunks=chunks,
        behind=behind,
    )

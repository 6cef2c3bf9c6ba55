"""Make the index of the papers again from what is stored: after a restore, or beside the old one (blue/green).

An index of another model, or with other settings, is begun, filled, compared and switched to. From its beginning on
every writer writes to both indexes (`IndexWrites`), so nothing is blocked and neither lacks a paper when the other is
searched: whatever was written before is found by filling. Each step may be stopped and repeated.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import groupby, repeat

from bio_mcp.deadline import Progress, silent
from bio_mcp.errors import Conflict, NotFound
from bio_mcp.ports import Backends
from bio_mcp.ports.models import PaperIndex, Role
from bio_mcp.ports.stores import Embeddings, Passages
from bio_mcp.syncing.indexing import model_of, refresh_all, searched_index, slices, unless_removed, write_passages

PASSES = 5  # over both indexes, at most; what a later one would find, writers have in hand
CHECKED_AT_ONCE = 200  # PMIDs

Pair = tuple[str, int]


def reindex(backends: Backends, progress: Progress = silent) -> bool:
    """Bring the index to what the stored papers say. True if it had another model's vectors than the configured one's,
    and was replaced.

    Texts whose vectors are stored are not embedded again, so a second run is quick and a stopped one can be repeated.
    No paper is marked as indexed: changes that a stopped sync has not announced are left for the next sync to announce.
    `progress` is called with the number of papers written and of all papers.
    """
    done = _counting(backends, progress)
    another = _replace(backends, progress)
    pmids = _missing(backends) if another else backends.documents.pmids()
    for part in slices(pmids, backends.passages):
        with searched_index(backends) as (embeddings, passages):
            done(_write(part, embeddings, passages, backends))
    refresh_all(backends)
    return another


def begin(model: Embeddings, backends: Backends, *, force: bool = False) -> PaperIndex:
    """Begin the next index, or go on with it. Raises what the port's `begin` raises."""
    return backends.indexes.begin(model.fingerprint, model.dim, force=force)


def fill(index: PaperIndex, backends: Backends, progress: Progress = silent) -> int:
    """Write to an index what is newer in the searched one, and delete what is stored no more; returns the papers
    written.

    One pass finds all that was written before the index was begun. More passes show that it has everything. Nothing
    is embedded that another index of the same model has. Raises `Conflict` if the index is removed meanwhile.
    """
    done, written = _counting(backends, progress), 0
    others = (each for each in backends.indexes.all() if each.name != index.name)
    twin = next((each.passages for each in others if each.fingerprint == index.fingerprint), None)  # of the same model
    with unless_removed(index, backends):
        _bury(index.passages, backends)
        for _ in range(PASSES):
            moved = 0
            for part in slices(behind(index, backends), index.passages):
                moved += _write(part, model_of(index, backends), index.passages, backends, twin=twin)
                done(len(part))
            index.passages.refresh(index.fingerprint, index.dim)
            written += moved
            if not moved:
                break
        return written
    raise Conflict(f"The {index.role} index of the papers was removed while it was filled.", retryable=False)


def behind(index: PaperIndex, backends: Backends) -> Iterator[str]:
    """Yield the papers that an index lacks or has in an older version than the searched one, and those that only it
    has and that are stored no more."""
    searched = of_role(Role.SEARCHED, backends)
    extra: list[str] = []
    for pmid, here, there in _merged(searched.passages.versions(), index.passages.versions()):
        if here is None:
            extra.append(pmid)
        elif there is None or there < here:
            yield pmid
        if len(extra) == CHECKED_AT_ONCE:
            yield from _withdrawn(extra, backends)
            extra = []
    yield from _withdrawn(extra, backends)


def switch(to: Role, backends: Backends, progress: Progress = silent) -> PaperIndex:
    """Search the next or the previous index from now on, once it has every paper; returns it as it was before."""
    index = of_role(to, backends)
    model_of(index, backends)
    fill(index, backends, progress)
    backends.indexes.switch(to)
    return index


def of_role(role: Role, backends: Backends) -> PaperIndex:
    """The index with this role. Raises `NotFound`."""
    for each in backends.indexes.all():
        if each.role is role:
            return each
    if role is Role.SEARCHED:
        raise NotFound(
            "The index that is searched is empty, or was lost; bio-mcp admin reindex makes it from the papers."
        )
    raise NotFound(f"There is no {role} index of the papers; bio-mcp admin reindex status lists those that there are.")


def _replace(backends: Backends, progress: Progress) -> bool:
    """Have the index of the configured model searched instead of another model's, whose index is removed."""
    model = backends.models.named("")
    there = {each.role: each for each in backends.indexes.all()}
    if Role.SEARCHED not in there or there[Role.SEARCHED].fingerprint == model.fingerprint:
        return False
    if not there[Role.SEARCHED].passages.count()[0]:
        return False
    previous = there.get(Role.PREVIOUS)
    if previous and previous.fingerprint == model.fingerprint:
        switch(Role.PREVIOUS, backends, progress)
    else:
        fill(begin(model, backends), backends, progress)
        backends.indexes.switch(Role.NEXT)
    backends.indexes.remove()
    return True


def _write(
    pmids: Sequence[str],
    embeddings: Embeddings,
    passages: Passages,
    backends: Backends,
    *,
    twin: Passages | None = None,
) -> int:
    """Write the passages of stored papers, and delete those of papers that are stored no more."""
    documents = backends.documents.get_many(pmids)
    write_passages([*documents.values()], embeddings, passages, twin=twin)
    heads, tombstones = backends.documents.standing(pmids)
    gone = [pmid for pmid in pmids if pmid not in heads]
    passages.delete(gone, {pmid: each.version for pmid, each in tombstones.items()})
    return len(documents.keys() | set(gone))


def _bury(passages: Passages, backends: Backends) -> None:
    """Have an index refuse what was deleted before it was begun, which a writer may still have in hand."""
    for part in slices(backends.documents.tombstones(), passages):
        passages.delete([pmid for pmid, _ in part], dict(part))


def _withdrawn(pmids: Sequence[str], backends: Backends) -> list[str]:
    """PMIDs that are not stored."""
    heads = backends.documents.heads(pmids) if pmids else {}
    return [pmid for pmid in pmids if pmid not in heads]


def _missing(backends: Backends) -> Iterator[str]:
    """Yield the stored papers that have no entry in the index, not even an empty one."""
    for part in slices(backends.documents.pmids()):
        with searched_index(backends) as (_, passages):
            there = passages.chunk_texts(part)
        yield from (pmid for pmid in part if pmid not in there)


def _merged(here: Iterable[Pair], there: Iterable[Pair]) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield each PMID with its versions in both, which are in the order of PMIDs; None where it is not."""
    sided = (zip(pairs, repeat(side), strict=False) for side, pairs in enumerate((here, there)))
    both = merge(*sided, key=lambda each: int(each[0][0]))
    for pmid, found in groupby(both, key=lambda each: each[0][0]):
        versions = {side: version for (_, version), side in found}
        yield pmid, versions.get(0), versions.get(1)


def _counting(backends: Backends, progress: Progress) -> Callable[[int], None]:
    """A function that is told of papers written, and reports their number."""
    done, papers = 0, backends.documents.count()

    def count(more: int) -> None:
        nonlocal done
        done += more
        progress(done, max(done, papers), f"{done:,} papers")

    return count

"""Which documents of a project are one work.

PMID, PMCID, DOI, the key in a library and the hash of the file each name a work for certain. A citekey and the place of
a file do as well, unless the two have different PMIDs or DOIs: people use a citekey twice, and replace files.
"""

from collections.abc import Iterable, Sequence, Set

from bio_mcp.ports.projects import ProjectDocument

CERTAIN = ("pmid", "pmcid", "doi", "zotero", "sha256")
PROBABLE = ("citekey", "place")
_ONE_OF_A_KIND = {"pmid", "pmcid", "doi", "citekey", "place"}  # a work may have several files, and items of a library
_RANK = {kind: rank for rank, kind in enumerate((*CERTAIN, *PROBABLE))}


def kind_of(identifier: str) -> str:
    """The kind of an identifier, as `doi` of `doi:10.1/x`."""
    return identifier.partition(":")[0]


def same_work(found: Iterable[ProjectDocument], identifiers: Set[str]) -> list[ProjectDocument]:
    """Those of `found` that are the work with these identifiers; the first stays, the others become one with it."""
    shared = {each.doc_id: {kind_of(name) for name in each.identifiers & identifiers} for each in found}
    same = [each for each in found if _is_same(each, shared[each.doc_id], identifiers)]
    return sorted(same, key=lambda each: (min(_RANK.get(kind, 99) for kind in shared[each.doc_id]), each.doc_id))


def _is_same(document: ProjectDocument, shared: Set[str], identifiers: Set[str]) -> bool:
    return bool(shared & set(CERTAIN)) or (bool(shared & set(PROBABLE)) and not _differ(document, identifiers))


def _differ(document: ProjectDocument, identifiers: Set[str]) -> bool:
    return any(
        (mine := _of_kind(kind, document.identifiers)) and (theirs := _of_kind(kind, identifiers)) and not mine & theirs
        for kind in ("pmid", "doi")
    )


def joined(identifiers: Set[str], documents: Sequence[ProjectDocument]) -> frozenset[str]:
    """The identifiers of a work that `documents` are of too: of the kinds that a work has one of, the newer hold."""
    kinds = {kind_of(each) for each in identifiers} & _ONE_OF_A_KIND
    older = {name for each in documents for name in each.identifiers if kind_of(name) not in kinds}
    return frozenset(identifiers | older)


def is_certain(document: ProjectDocument, identifiers: Set[str]) -> bool:
    """Whether they share more than a place or a citekey."""
    return any(kind_of(each) in CERTAIN for each in document.identifiers & identifiers)


def _of_kind(kind: str, identifiers: Iterable[str]) -> set[str]:
    return {each for each in identifiers if kind_of(each) == kind}

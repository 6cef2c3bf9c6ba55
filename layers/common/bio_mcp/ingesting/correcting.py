"""What a citation of a document lacks, and what its user corrects: that holds over whatever an ingest finds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.documents import (
    NAME,
    YOU,
    Authority,
    Described,
    correction,
    description_of,
    document_named,
    edited_of,
    keyed_work,
    kind_of,
    record_of,
    reword,
)
from bio_mcp.ingesting.turns import in_turns, turn
from bio_mcp.literature import identifiers
from bio_mcp.literature.descriptions import Description
from bio_mcp.literature.identifiers import normal
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import Project, ProjectDocument

EDITED = ("title", "authors", "year", "journal", "doi", "pmid", "citekey")  # what a user may correct
_OF_A_WORK = ("doi", "pmid", "pmcid", "citekey", "key")  # kinds of identifiers; the others are of files


def missing(document: ProjectDocument) -> list[str]:
    """What a citation of the document lacks; the name of a file is no title."""
    named = document.origin.get("from", {}).get("title") == NAME
    lacks = [each for each in ("title", "authors", "year", "journal") if not getattr(document.work, each)]
    return ["title", *lacks] if named else lacks


def in_normal_form(said: Mapping[str, Any], emptied: Sequence[str] = ()) -> dict[str, Any]:
    """What a user says of a document, its DOI and PMID in their normal form, None of what is `emptied`.

    Raises `InvalidInput`.
    """
    found = {name: value for name, value in said.items() if value}
    for name, read in (("doi", identifiers.doi), ("pmid", identifiers.parse_pmid)):
        if name in found and not (normal_form := normal(read, found[name])):
            raise InvalidInput(f"{found[name]!r} is no {name.upper()}.", field=name)
        found |= {name: normal_form} if name in found else {}
    if not (found or emptied):
        raise InvalidInput("Say what to correct: the title, authors, year, journal, DOI, PMID or citekey.")
    return dict.fromkeys(emptied) | found


def correct(project: Project, named: str, said: Mapping[str, Any], backends: Backends) -> ProjectDocument:
    """Give the document that a citekey, DOI, PMID or its id names what its user says of it, by field; None empties one.

    What the corpus knows of a paper with an id that is said, is taken over. Nothing is embedded. Raises `NotFound`
    where the project has none of this name, `InvalidInput` for the citekey of another.
    """

    def corrected() -> ProjectDocument:
        with turn(project.project_id, backends):
            return _correct(project, named, said, backends)

    return in_turns(corrected, NEVER)


def _correct(project: Project, named: str, said: Mapping[str, Any], backends: Backends) -> ProjectDocument:
    document = document_named(project.project_id, named, backends.project_documents)
    key = said.get("citekey")
    others = backends.project_documents.find(project.project_id, [f"citekey:{key}", f"key:{key}"]) if key else []
    if others := [each for each in others if each.doc_id != document.doc_id]:
        raise InvalidInput(f"{others[0].work.title!r} has the citekey {key!r} already", field="citekey")
    described = _corrected(document, said, backends)
    work, names = keyed_work(
        document.doc_id,
        described.work,
        document.work.source,
        lambda asked: backends.project_documents.find(project.project_id, sorted(asked)),
    )
    if work != document.work:
        reword(project.collection, work, backends.collections)
    edited, before = described.edited, document.origin.get("from", {})
    sources = {name: by for name, by in before.items() if getattr(work, name, None)} | described.stated_by
    corrected = replace(
        document,
        work=work,
        identifiers=described.work.identifiers
        | names
        | {each for each in document.identifiers if kind_of(each) not in _OF_A_WORK},
        origin={
            **document.origin,
            "from": sources,
            "edited": {name: getattr(edited, name) for name in edited.stated},
        },
    )
    backends.project_documents.put(project.project_id, corrected)
    return corrected


def _corrected(document: ProjectDocument, said: Mapping[str, Any], backends: Backends) -> Described:
    now = correction(said)
    edited, record = now.over(edited_of([document])), record_of(now, backends.documents) or Description()
    known = description_of(document)
    if any(getattr(now, each) and getattr(known, each) not in (None, getattr(now, each)) for each in ("doi", "pmid")):
        known = replace(known, doi=None, pmid=None, pmcid=None)  # the others are of another paper as well
    elif "pmid" in now.emptied:
        known = replace(known, pmcid=None)
    sources = dict.fromkeys(record.stated, "corpus") | dict.fromkeys(edited.stated, YOU)
    return Described(edited.over(record.over(known)), Authority.CORPUS, sources=sources, edited=edited)

"""What is known of a document's work, from the places that know it best: references, library, corpus, the document."""

from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from pathlib import PurePosixPath

from bio_mcp.ingesting.incoming import Incoming
from bio_mcp.literature import identifiers
from bio_mcp.literature.csl_json import References
from bio_mcp.literature.descriptions import Description, normal, of_article
from bio_mcp.literature.parsed import ParsedDocument
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.ports.stores import Documents
from bio_mcp.retrieval.project_chunks import Work


class Authority(IntEnum):
    """Who describes a work, the most trusted last."""

    NAME = 0  # the file's name, or the title that stands in it
    IDENTIFIED = 1  # a DOI or PMID that stands in the document
    CORPUS = 2
    LIBRARY = 3
    REFERENCES = 4


@dataclass(frozen=True, slots=True)
class Described:
    """A work with everything that is known of it, and the best of those who know it. `reference` is its entry there."""

    work: Description
    authority: Authority
    reference: Description | None = None

    @property
    def reference_hash(self) -> str | None:
        """Changes whenever its entry in the references does."""
        return hash_of(self.reference) if self.reference else None

    def with_older(self, document: ProjectDocument) -> Description:
        """What is known of the work now, and what was known before: the one with more authority holds."""
        older = description_of(document)
        newer_holds = self.authority >= document.origin.get("authority", Authority.NAME)
        return self.work.over(older) if newer_holds else older.over(self.work)


def describe(incoming: Incoming, parsed: ParsedDocument, references: References, documents: Documents) -> Described:
    """Describe the work of a document: each field by the most trusted that has it."""
    own = _of_document(parsed, incoming)
    known = incoming.description.over(own)
    reference = references.match(known, incoming.name)
    known = reference.over(known) if reference else known
    record = record_of(known, documents)
    named = Description(title=PurePosixPath(incoming.name).stem)
    given = [each for each in (reference, incoming.description, record, own, named) if each]
    work = given[0]
    for each in given[1:]:
        work = work.over(each)
    return Described(work, _authority(reference, incoming, record, own), reference)


def record_of(known: Description, documents: Documents) -> Description | None:
    """What the corpus knows of the paper with this PMID, PMCID or DOI; None if it has none."""
    others = sorted(each for each in known.identifiers if each.startswith(("pmcid:", "doi:")))
    pmid = known.pmid or (next(iter(documents.resolve(others).values()), None) if others else None)
    found = documents.get_many([pmid]).get(pmid) if pmid else None
    return of_article(found.article) if found else None


def _of_document(parsed: ParsedDocument, incoming: Incoming) -> Description:
    return Description(
        title=(parsed.title or "").strip() or None,
        doi=normal(identifiers.doi, parsed.doi),
        pmid=normal(identifiers.parse_pmid, parsed.pmid),
        language=parsed.language or incoming.language,
    )


def _authority(
    reference: Description | None, incoming: Incoming, record: Description | None, own: Description
) -> Authority:
    by = {
        Authority.REFERENCES: reference is not None,
        Authority.LIBRARY: bool(incoming.description.title or incoming.description.identifiers),
        Authority.CORPUS: record is not None,
        Authority.IDENTIFIED: bool(own.identifiers),
    }
    return next((authority for authority, knows in by.items() if knows), Authority.NAME)


def description_of(document: ProjectDocument) -> Description:
    """What a document's record says of its work."""
    work = document.work
    named = {kind: value for kind, _, value in (each.partition(":") for each in document.identifiers)}
    return Description(
        title=work.title,
        citekey=work.citekey,
        doi=work.doi,
        pmid=work.pmid,
        pmcid=named.get("pmcid"),
        url=work.url,
        year=work.year,
        authors=work.authors,
        tags=work.tags,
        language=work.language,
    )


def work_of(doc_id: str, known: Description, source: str | None) -> Work:
    """The work as it stands with each chunk of a document."""
    return Work(
        doc_id=doc_id,
        title=known.title,
        citekey=known.citekey,
        doi=known.doi,
        pmid=known.pmid,
        url=known.url,
        year=known.year,
        authors=known.authors,
        tags=known.tags,
        language=known.language,
        source=source,
    )


def hash_of(description: Description) -> str:
    """Equal for equal descriptions."""
    return sha256(repr(description).encode(errors="surrogatepass")).hexdigest()[:32]

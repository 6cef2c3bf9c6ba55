"""Sources of edges that were read out of documents by rule, told from those that somebody vouches for."""

from collections.abc import Iterable

_DOCUMENT = "document:"


def document_source(project_id: str, doc_id: str) -> str:
    """The source of what a document of a project states; it stays the same whatever becomes known of the document."""
    return f"{_DOCUMENT}{project_id}/{doc_id}"


def without_documents(sources: Iterable[str]) -> tuple[str, ...]:
    """The sources that are not documents of projects."""
    return tuple(each for each in sources if not each.startswith(_DOCUMENT))


def by_rule(sources: Iterable[str]) -> bool:
    """Whether nothing but documents is named, so that no person has read the statement out of its source."""
    return not without_documents(sources)

"""Text that chunks of a document share, so that one answer says nothing twice."""

from collections.abc import Iterable

from bio_mcp.retrieval.project_chunks import ProjectChunk

LEAST_SHARED = 12  # characters; fewer may end one chunk and begin another by chance
LEAST_NEW = 1 / 3  # of a chunk's text; one with less to add is left out


def new_text(chunk: ProjectChunk, better: Iterable[ProjectChunk]) -> str | None:
    """The text of `chunk` without what `better` chunks of its document have of it at either end.

    None where they have most of it. Compares texts, since chunks that a client stored have no offsets.
    """
    start, end = 0, len(chunk.text)
    for other in better:
        if other.work.doc_id == chunk.work.doc_id:
            repeated = chunk.text in other.text
            start = max(start, end if repeated else _joint(other.text, chunk.text))
            end = min(end, len(chunk.text) - _joint(chunk.text, other.text))
    left = chunk.text[start:end].strip()
    return left if len(left) >= LEAST_NEW * len(chunk.text.strip()) else None


def _joint(first: str, second: str) -> int:
    """How many characters at the end of `first` begin `second`; 0 where they are fewer than `LEAST_SHARED`."""
    at = first.find(second[:LEAST_SHARED])
    while 0 <= at <= len(first) - LEAST_SHARED:
        if second.startswith(first[at:]):
            return len(first) - at
        at = first.find(second[:LEAST_SHARED], at + 1)
    return 0

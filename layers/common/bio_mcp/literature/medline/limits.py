"""Bounds of one record: a real PMID, and at most ten times the size of PubMed's largest records.

The largest records are lists of thousands of collaborators: some megabytes of XML, a quarter of a million tags. The
longest abstracts have seven thousand characters.
"""

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.literature.records import Article

LONGEST_RECORD = 16 << 20  # bytes of XML, comments included
MOST_TAGS = 500_000  # a tag of four bytes becomes a node of over a hundred
LONGEST_TEXT = 100_000  # characters of a title and an abstract
SHOWN = 40  # characters of a PMID that is none


class OddRecord(NcbiUnreadable):
    """A record that PubMed cannot have made. It is skipped; the records around it can be read."""


class RecordSize:
    """Bytes and tags fed to a parser since it finished a record."""

    def __init__(self) -> None:
        self._bytes = self._tags = 0

    def add(self, chunk: bytes) -> None:
        """Count a chunk. Raises `OddRecord` beyond the bounds; nothing after it can be read."""
        self._bytes += len(chunk)
        self._tags += chunk.count(b"<")
        if self._bytes > LONGEST_RECORD or self._tags > MOST_TAGS:
            raise OddRecord(
                f"It has more than {LONGEST_RECORD >> 20} MB or {MOST_TAGS:,} tags, as no record of PubMed has.",
                retryable=False,
            )

    def reset(self) -> None:
        """Reset the counts: a record is finished."""
        self._bytes = self._tags = 0


def version_of(text: str | None) -> int:
    """Parse a PMID's Version; 1 where it is not a number. Raises `OddRecord` for more than four digits."""
    if not text or not (text.isascii() and text.isdigit()):
        return 1
    if len(text) > 4:
        raise OddRecord(f"Version {text[:SHOWN]} is none that PubMed counts to.")
    return int(text)


def check_record(record: Article) -> Article:
    """Return the article unchanged. Raises `OddRecord` without a PMID, for a bad one, and for endless text."""
    if not record.pmid:
        raise OddRecord("A record in the PubMed XML has no PMID; fetch it again or take it out of the file.")
    check_pmid(record.pmid)
    texts = [record.title or "", record.vernacular_title or "", *[section.text for section in record.abstract]]
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise OddRecord(f"Title and abstract of PMID {record.pmid} have more than {LONGEST_TEXT:,} characters.")
    return record


def check_pmid(text: str) -> str:
    """Return the PMID unchanged. Raises `OddRecord` for anything else than up to nine digits without a leading zero."""
    if not is_pmid(text):
        raise OddRecord(f"{text[:SHOWN]!r} is not a PMID: it has up to nine digits and no leading zero.")
    return text

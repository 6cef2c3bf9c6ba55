"""Stream the records of PubMed XML; the memory of each is freed before the next.

Plain stretches are read in `batches`. Everything else is read here: books, deletions, the end of the file, files
that are damaged or odd.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from typing import IO

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline.batches import parse_batches, read_fully, read_record
from bio_mcp.literature.medline.books import chapter
from bio_mcp.literature.medline.citations import article
from bio_mcp.literature.medline.limits import OddRecord, RecordSize, check_pmid
from bio_mcp.literature.medline.prolog import HEAD, check_head, close, finished_elements, sealed_parser, unreadable
from bio_mcp.literature.records import Article, Deletion

_CHUNK = 1 << 15
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_RECORDS = {"PubmedArticle": article, "PubmedBookArticle": chapter}


def parse(stream: IO[bytes]) -> Iterator[Article | Deletion]:
    """Yield every record of a PubmedArticleSet, update file or EFetch answer, in the file's order.

    Several versions of one PMID are all yielded (see `newest`). Deletions stand at the end of an update file. A
    truncated or broken file yields the records that are whole before the break, then raises `NcbiUnreadable`: a caller
    that must not act on half a file collects before acting. An odd record ends the parse, too.
    """
    for record in parse_each(stream):
        if isinstance(record, OddRecord):
            raise record
        yield record


def parse_each(stream: IO[bytes]) -> Iterator[Article | Deletion | OddRecord]:
    """Like `parse`, but an odd record is yielded as an `OddRecord` and parsing goes on.

    A record too large to be read raises, since its end cannot be found.
    """
    head = read_fully(stream, HEAD)
    check_head(head)
    rest = io.BytesIO((yield from parse_batches(stream, head)))
    parser, size = sealed_parser(*_RECORDS, *_DELETIONS), RecordSize()
    while chunk := rest.read(_CHUNK) or stream.read(_CHUNK):
        size.add(chunk)
        _feed(parser, chunk)
        for record in _finished(parser):
            yield record
            size.reset()
    close(parser)
    yield from _finished(parser)


def newest(records: Iterable[Article | Deletion]) -> dict[str, Article | Deletion]:
    """Map each PMID to its highest version, the later of two equal ones. A deletion outranks both."""
    newest_by_pmid: dict[str, Article | Deletion] = {}
    for record in records:
        known = newest_by_pmid.get(record.pmid)
        if not isinstance(known, Article) or isinstance(record, Deletion):
            if not isinstance(known, Deletion):
                newest_by_pmid[record.pmid] = record
        elif record.pmid_version >= known.pmid_version:
            newest_by_pmid[record.pmid] = record
    return newest_by_pmid


def _finished(parser: etree.XMLPullParser) -> Iterator[Article | Deletion | OddRecord]:
    """Yield what the parser has finished, and free each element after it was read."""
    for element in finished_elements(parser):
        reader: Callable[[etree._Element], Article] | None = _RECORDS.get(element.tag)
        if reader is not None:
            yield read_record(reader, element)
        else:
            yield from _deletions(element)
        _free(element)


def _deletions(element: etree._Element) -> Iterator[Deletion | OddRecord]:
    for child in element:
        pmid = child.text.strip() if child.tag == "PMID" and child.text else ""
        if pmid:
            yield _deletion(pmid)


def _deletion(pmid: str) -> Deletion | OddRecord:
    try:
        return Deletion(check_pmid(pmid))
    except OddRecord as odd:
        return odd


def _free(element: etree._Element) -> None:
    """Free a finished record. It stays the last child itself, since libxml2 may still write its tail."""
    element.clear()
    before = element.getprevious()
    parent = element.getparent()
    if before is not None and parent is not None:
        parent.remove(before)


def _feed(parser: etree.XMLPullParser, chunk: bytes) -> None:
    try:
        parser.feed(chunk)
    except etree.XMLSyntaxError as error:
        raise unreadable(error) from error
    if len(parser.feed_error_log):
        _refuse_entities(parser)


def _refuse_entities(parser: etree.XMLPullParser) -> None:
    """Raise `NcbiUnreadable` for an undefined entity, which the parser only logs."""
    for entry in parser.feed_error_log:
        if "ENTITY" in entry.type_name:
            raise NcbiUnreadable(
                "The XML uses an entity that it does not define, so its text has holes; fetch it again."
            )

"""A stream of PubMed XML -> its records, one at a time, the memory of each given back before the next.

Plain stretches are read in `batches`; here everything else is: books, deletions, the end of the file, files that are
damaged or odd.
"""

from collections.abc import Iterable, Iterator
from typing import IO

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline.batches import filled, in_batches
from bio_mcp.literature.medline.books import chapter
from bio_mcp.literature.medline.citations import article
from bio_mcp.literature.medline.prolog import HEAD, close, finished, judge, sealed_parser, unreadable
from bio_mcp.literature.records import Article, Deletion

_CHUNK = 1 << 15
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_RECORDS = {"PubmedArticle": article, "PubmedBookArticle": chapter}


def parse(stream: IO[bytes]) -> Iterator[Article | Deletion]:
    """Every record of a PubmedArticleSet, update file or EFetch answer, in the file's order.

    Several versions of one PMID are all yielded (see `newest`); deletions come where they stand, at the end of an
    update file. A cut or broken file yields what stands whole before the break, then raises `NcbiUnreadable`: a
    caller that must not act on half a file collects before acting.
    """
    head = filled(stream, HEAD)
    judge(head)
    chunk = yield from in_batches(stream, head)
    parser = sealed_parser(*_RECORDS, *_DELETIONS)
    while chunk:
        _feed(parser, chunk)
        yield from _finished(parser)
        chunk = stream.read(_CHUNK)
    close(parser)
    yield from _finished(parser)


def newest(records: Iterable[Article | Deletion]) -> dict[str, Article | Deletion]:
    """PMID -> what is left of it: its highest version, the later of two equal ones; a deletion outranks both."""
    kept: dict[str, Article | Deletion] = {}
    for record in records:
        known = kept.get(record.pmid)
        if not isinstance(known, Article) or isinstance(record, Deletion):
            if not isinstance(known, Deletion):
                kept[record.pmid] = record
        elif record.pmid_version >= known.pmid_version:
            kept[record.pmid] = record
    return kept


def _finished(parser: etree.XMLPullParser) -> Iterator[Article | Deletion]:
    for element in finished(parser):
        reader = _RECORDS.get(element.tag)
        if reader is not None:
            yield reader(element)
        else:
            yield from _deleted(element)
        _forget(element)


def _deleted(element: etree._Element) -> Iterator[Deletion]:
    for child in element:
        pmid = child.text.strip() if child.tag == "PMID" and child.text else ""
        if pmid:
            yield Deletion(pmid)


def _forget(element: etree._Element) -> None:
    """Free a finished record. It stays the last child itself: libxml2 may still write its tail."""
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
    for entry in parser.feed_error_log:
        if "ENTITY" in entry.type_name:
            raise NcbiUnreadable(
                "The XML uses an entity that it does not define, so its text has holes; fetch it again."
            )

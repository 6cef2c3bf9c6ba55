"""Parse many records in one go, where the file can be cut between records before it is parsed.

Records of the usual shape need no tree (`regular`). For others libxml2 builds one from a block of memory, in three
quarters of the time that it needs to be fed, and frees it whole. A batch ends at a `</PubmedArticle>`. That may be no
end tag at all, but text in a comment or in CDATA, so a batch counts only if it is content of a PubmedArticleSet by
itself: well-formed between the root's tags, without complaint, with nothing but records in it. XML content put after
XML content is the file's content, so the records are those that a parser of the whole file finds. Any other batch is
left, unread, to `stream`.
"""

import re
from collections.abc import Callable, Generator, Sequence
from typing import IO, cast

from lxml import etree

from bio_mcp.literature.medline.citations import article
from bio_mcp.literature.medline.limits import OddRecord
from bio_mcp.literature.medline.prolog import PLAIN_DOCTYPE, sealed_builder
from bio_mcp.literature.medline.regular import Irregular, articles
from bio_mcp.literature.records import Article

_ROOT, _ROOT_END = b"<PubmedArticleSet>", b"<mark/></PubmedArticleSet>"
_END = b"</PubmedArticle>"
_OPENING = re.compile(
    rb"""(?:<\?xml\s+version=["']1\.0["'](?:\s+encoding=["'](?i:utf-8)["'])?\s*\?>\s*)?(?:%b\s*)?(?=%b)"""
    % (PLAIN_DOCTYPE.pattern.encode(), _ROOT)
)
_SIZE = 1 << 16  # bytes; a tree is about ten times as large, and reading it is slower outside the processor's cache
_LONGEST = 1 << 22


def parse_batches(stream: IO[bytes], head: bytes) -> Generator[Article | OddRecord, None, bytes]:
    """Yield the articles of all plain batches; return the bytes that `stream` has to read instead of what was consumed.

    Those bytes are the file's opening, a line break for every line read so that errors name the right line, and what
    follows the last plain batch. `head` was checked by `prolog`; a file with an unusual opening is returned whole.
    """
    opening = _OPENING.match(head)
    if not opening:
        return head
    prolog, rest = opening[0], head[opening.end() + len(_ROOT) :]
    parser = sealed_builder()
    lines = 0
    while len(rest) < _LONGEST:
        end = rest.rfind(_END) + len(_END)
        if end >= len(_END):
            records, breaks = _records(parser, rest[:end])
            if not records:
                break
            yield from records
            lines += breaks
            rest = rest[end:]
        more = read_fully(stream, _SIZE)
        if not more:
            break
        rest += more
    return b"".join((prolog, b"\n" * lines, _ROOT, rest))


def read_fully(stream: IO[bytes], size: int) -> bytes:
    """Read `size` bytes or a little more from a stream that may return small pieces; fewer at its end."""
    pieces: list[bytes] = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def read_record(reader: Callable[[etree._Element], Article], element: etree._Element) -> Article | OddRecord:
    """Read the record, or return the `OddRecord` that says why it cannot be read."""
    try:
        return reader(element)
    except OddRecord as odd:
        return odd


def _records(parser: etree.XMLParser, batch: bytes) -> tuple[Sequence[Article | OddRecord], int]:
    """The records of a plain batch and its number of line breaks; no records if the batch is not plain."""
    try:
        return articles(batch)
    except Irregular:
        elements, breaks = _elements(parser, batch)
        return [read_record(article, element) for element in elements], breaks


def _elements(parser: etree.XMLParser, batch: bytes) -> tuple[list[etree._Element], int]:
    """The elements of those records, and the line breaks."""
    try:
        *records, mark = etree.fromstring(_ROOT + batch + _ROOT_END, parser)
    except etree.XMLSyntaxError:
        return [], 0
    root = mark.getparent()
    plain = root is not None and records == list(root.iter("PubmedArticle")) and not len(parser.error_log)
    return (records, cast(int, mark.sourceline) - 1) if plain else ([], 0)

"""PubMed XML to records, in constant memory: the memory of each is freed before the next.

The file is not trusted. All real PubMed XML names an external DTD; it is accepted and never loaded. None has an
internal subset, where entities are declared: a file with one is refused, since it can make a parser read files or fill
memory. A record may be ten times as large as PubMed's largest (thousands of collaborators: some megabytes of XML, a
quarter of a million tags).

Where the file can be cut between records, many are parsed in one go: libxml2 builds a tree from a block of memory in
three quarters of the time that it needs to be fed, and frees it whole. A batch ends at a `</PubmedArticle>`. That may
be no end tag at all, but text in a comment or in CDATA, so a batch counts only if it is content of a PubmedArticleSet
by itself: well-formed between the root's tags, without complaint, with nothing but records in it. XML content put
after XML content is the file's content, so the records are those that a parser of the whole file finds. The rest is
fed: books, deletions, the end of the file, files that are damaged or odd.
"""

import gzip
import io
import lzma
import re
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeVar, cast

from isal import igzip, isal_zlib
from lxml import etree

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline.article import OddRecord, article, chapter, check_pmid, version_of
from bio_mcp.literature.records import Article, Deletion

LONGEST_RECORD = 16 << 20  # bytes of XML, comments included
MOST_TAGS = 500_000  # a tag of four bytes becomes a node of over a hundred
UNREADABLE = "The file cannot be read; check that it exists and is a readable file."
PLAIN_DOCTYPE = re.compile(r"""<!DOCTYPE\s+[^\s\[>"']+(?:\s+(?:SYSTEM|PUBLIC)(?:\s+(?:"[^"]*"|'[^']*'))+)?\s*>""")
_READERS: dict[Any, Callable[[etree._Element], Article]] = {"PubmedArticle": article, "PubmedBookArticle": chapter}
_DELETIONS = ("DeleteCitation", "DeleteDocument")
_ROOTS = frozenset({"PubmedArticleSet", "PubmedBookArticleSet", "BookDocumentSet", *_DELETIONS, *_READERS})
_HEAD = 1 << 16
_STEP = 512
_CHUNK = 1 << 15
_BATCH = 1 << 16  # bytes; a tree is about ten times as large, and reading it is slower outside the processor's cache
_LONGEST_BATCH = 1 << 22
_BEFORE_DOCTYPE = re.compile(r"(?:\s|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)
_ROOT, _ROOT_END = b"<PubmedArticleSet>", b"<mark/></PubmedArticleSet>"
_END = b"</PubmedArticle>"
_OPENING = re.compile(
    rb"""(?:<\?xml\s+version=["']1\.0["'](?:\s+encoding=["'](?i:utf-8)["'])?\s*\?>\s*)?(?:%b\s*)?(?=%b)"""
    % (PLAIN_DOCTYPE.pattern.encode(), _ROOT)
)
From = TypeVar("From")
To = TypeVar("To")
_GZIP = b"\x1f\x8b"
_XZ = b"\xfd7zXZ\x00"
_ISAL = cast(type[Exception], isal_zlib.error)  # its stub takes the class for an instance
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, _ISAL)

# Any: lxml's stubs type each option for itself. `collect_ids` stays at its default: lxml 6.1 turns False into a flag
# that makes libxml2 load the DTD.
_SEALED: dict[str, Any] = {
    "resolve_entities": False,
    "load_dtd": False,
    "no_network": True,
    "huge_tree": False,
    "remove_comments": True,
    "remove_pis": True,
}


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
    head = _read_fully(stream, _HEAD)
    _check_head(head)
    rest = io.BytesIO((yield from _parse_batches(stream, head)))
    parser = etree.XMLPullParser(events=("end",), tag=(*_READERS, *_DELETIONS), **_SEALED)
    size = tags = 0  # since the parser finished a record
    while chunk := rest.read(_CHUNK) or stream.read(_CHUNK):
        size, tags = size + len(chunk), tags + chunk.count(b"<")
        if size > LONGEST_RECORD or tags > MOST_TAGS:
            raise OddRecord(
                f"It has more than {LONGEST_RECORD >> 20} MB or {MOST_TAGS:,} tags, as no record of PubMed has.",
                retryable=False,
            )
        with _reasons():
            parser.feed(chunk)
        if any("ENTITY" in entry.type_name for entry in parser.feed_error_log):  # the parser only logs it
            raise NcbiUnreadable(
                "The XML uses an entity that it does not define, so its text has holes; fetch it again."
            )
        for record in _finished(parser):
            yield record
            size = tags = 0
    with _reasons():
        parser.close()
    yield from _finished(parser)


def newest(records: Iterable[Article | Deletion]) -> dict[str, Article | Deletion]:
    """Map each PMID to its highest version, the later of two equal ones. A deletion outranks both."""
    newest_by_pmid: dict[str, Article | Deletion] = {}
    for record in records:
        known = newest_by_pmid.get(record.pmid)
        if isinstance(known, Deletion):
            continue
        if known is None or isinstance(record, Deletion) or record.pmid_version >= known.pmid_version:
            newest_by_pmid[record.pmid] = record
    return newest_by_pmid


def open_records(
    path: Path, read: Callable[[int], None] = lambda _bytes: None
) -> Iterator[Article | Deletion | OddRecord]:
    """Stream the records of one file.

    Decompression streams, too. A truncated archive yields the records that are whole before the cut, then raises, like
    `parse_each`. `read` is called with each record and gets the bytes of the file consumed so far, for a progress bar.
    Raises `InvalidInput` for a file that cannot be read and `NcbiUnreadable` for a damaged archive.
    """
    if not path.is_file():  # a pipe would be waited for, and a device has no end
        raise InvalidInput(UNREADABLE)
    try:
        with path.open("rb") as file:
            for record in parse_each(_decompress(file)):
                read(file.tell())
                yield record
    except _DAMAGED as error:
        raise NcbiUnreadable("The archive is damaged or cut short; download it again.", retryable=False) from error
    except OSError as error:
        raise InvalidInput(UNREADABLE) from error


def sealed_builder() -> etree.XMLParser:
    """Make a parser of whole blocks that loads no DTD, opens no connection, expands no entity and has size limits."""
    return etree.XMLParser(**_SEALED)


def _decompress(file: IO[bytes]) -> IO[bytes]:
    """The decompressed stream of a gzip or xz file, recognised by its first bytes; any other file unchanged."""
    magic = file.read(6)
    file.seek(0)
    if magic.startswith(_GZIP):
        return cast(IO[bytes], igzip.open(file))  # type: ignore[no-untyped-call]  # it has no types
    return lzma.open(file) if magic == _XZ else file


def _check_head(head: bytes) -> None:
    """Raise `NcbiUnreadable` unless `head` opens PubMed XML without declarations of its own."""
    if not head.strip():
        raise NcbiUnreadable("The PubMed XML is empty; fetch it again.")
    root = _root(head)
    if root is None:
        raise NcbiUnreadable("This is not PubMed XML: no root element in its first bytes; fetch it again.")
    if _has_internal_subset(root.getroottree()):
        raise NcbiUnreadable("The XML declares entities or elements of its own, which PubMed never does; refused.")
    if root.tag not in _ROOTS:
        raise NcbiUnreadable("This is not PubMed XML: its root element is not PubmedArticleSet; check the source.")


def _has_internal_subset(tree: etree._ElementTree) -> bool:
    """Whether the DOCTYPE declares more than its name and ids; lxml lists entities and elements, but no attributes."""
    prolog = etree.tostring(tree, encoding="unicode")
    start = _BEFORE_DOCTYPE.match(prolog)
    doctype = prolog[start.end() :] if start else prolog
    return doctype.startswith("<!DOCTYPE") and not PLAIN_DOCTYPE.match(doctype)


def _root(head: bytes) -> etree._Element | None:
    """The root element, as soon as a chunk of `head` contains it; None when all of `head` has none."""
    parser = etree.XMLPullParser(events=("start",), **_SEALED)
    for start in range(0, len(head), _STEP):
        with _reasons():
            parser.feed(head[start : start + _STEP])
        for _, element in parser.read_events():
            return cast(etree._Element, element)
    if len(head) < _HEAD:
        with _reasons():
            parser.close()
    return None


def _parse_batches(stream: IO[bytes], head: bytes) -> Generator[Article | OddRecord, None, bytes]:
    """Yield the articles of all plain batches; return the bytes that have to be fed instead of what was consumed.

    Those bytes are the file's opening, a line break for every line read so that errors name the right line, and what
    follows the last plain batch. A file with an unusual opening is returned whole.
    """
    opening = _OPENING.match(head)
    if not opening:
        return head
    prolog, rest = opening[0], head[opening.end() + len(_ROOT) :]
    parser = sealed_builder()
    lines = 0
    while len(rest) < _LONGEST_BATCH:
        end = rest.rfind(_END) + len(_END)
        if end >= len(_END):
            elements, breaks = _elements(parser, rest[:end])
            if not elements:
                break
            for element in elements:
                yield _read_record(article, element)
            lines += breaks
            rest = rest[end:]
        more = _read_fully(stream, _BATCH)
        if not more:
            break
        rest += more
    return b"".join((prolog, b"\n" * lines, _ROOT, rest))


def _read_fully(stream: IO[bytes], size: int) -> bytes:
    """Read `size` bytes or a little more from a stream that may return small pieces; fewer at its end."""
    pieces: list[bytes] = []
    while size > 0 and (piece := stream.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _read_record(reader: Callable[[From], To], source: From) -> To | OddRecord:
    """Read the record, or return the `OddRecord` that says why it cannot be read."""
    try:
        return reader(source)
    except OddRecord as odd:
        return odd


def _elements(parser: etree.XMLParser, batch: bytes) -> tuple[list[etree._Element], int]:
    """The records of a plain batch and its number of line breaks; no records if the batch is not plain."""
    try:
        *records, mark = etree.fromstring(_ROOT + batch + _ROOT_END, parser)
    except etree.XMLSyntaxError:
        return [], 0
    root = mark.getparent()
    plain = root is not None and records == list(root.iter("PubmedArticle")) and not len(parser.error_log)
    return (records, cast(int, mark.sourceline) - 1) if plain else ([], 0)


def _finished(parser: etree.XMLPullParser) -> Iterator[Article | Deletion | OddRecord]:
    """Yield what the parser has finished, and free each element after it was read.

    It stays the last child itself, since libxml2 may still write its tail.
    """
    for _, each in parser.read_events():
        element = cast(etree._Element, each)
        reader = _READERS.get(element.tag)
        if reader is not None:
            yield _read_record(reader, element)
        else:
            pmids = [child for child in element if child.tag == "PMID" and (child.text or "").strip()]
            yield from (_read_record(_deletion, pmid) for pmid in pmids)
        element.clear()
        before, parent = element.getprevious(), element.getparent()
        if before is not None and parent is not None:
            parent.remove(before)


def _deletion(pmid: etree._Element) -> Deletion:
    """A PMID that is withdrawn, with its version if it names one."""
    return Deletion(check_pmid((pmid.text or "").strip()), version_of(pmid))


@contextmanager
def _reasons() -> Iterator[None]:
    """Say what the parser rejected, with the line and without the file's name."""
    try:
        yield
    except etree.XMLSyntaxError as error:
        reason = (error.msg or "it ends too early").partition("(<string>")[0].rstrip(" ,.")
        where = f" at line {error.lineno}" if error.lineno else ""
        message = f"The PubMed XML is broken or cut short{where}: {reason}. Fetch it again."
        raise NcbiUnreadable(message) from error

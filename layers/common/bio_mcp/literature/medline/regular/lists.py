"""Lists whose elements recur from record to record, or are short."""

import re
from collections.abc import Callable

from lxml import etree

from bio_mcp.literature.medline import indexing
from bio_mcp.literature.medline.citations import HISTORY, history_date
from bio_mcp.literature.medline.dates import stamp_of
from bio_mcp.literature.medline.regular.fragments import Irregular, Remembered, Value, content, listed, opened, usually
from bio_mcp.literature.medline.regular.texts import every, tidied
from bio_mcp.literature.records import Grant

_KEYWORD = re.compile('<Keyword(?: MajorTopicYN="[YN]")?>([^<]*)</Keyword>')
_ID = re.compile('<ArticleId IdType="([a-z]*)">([^<]*)</ArticleId>')
_GRANT = re.compile(
    "[^<]*(?:<GrantID>([^<]*)</GrantID>[^<]*)?(?:<Acronym>([^<]*)</Acronym>[^<]*)?(?:<Agency>([^<]*)</Agency>[^<]*)?"
    "(?:<Country>([^<]*)</Country>[^<]*)?</Grant>[^<]*"
)
_DATE = re.compile(
    'PubStatus="([a-z]+)">[^<]*<Year>([0-9]+)</Year>[^<]*<Month>([0-9]+)</Month>[^<]*<Day>([0-9]+)</Day>[^<]*'
    "(?:<Hour>([0-9]+)</Hour>[^<]*<Minute>([0-9]+)</Minute>[^<]*)?</PubMedPubDate>[^<]*"
)


def keyword_texts(inner: bytes) -> list[str]:
    """The texts of a KeywordList, as they are written."""
    words: list[str] = every(_KEYWORD, inner)
    return words


def ids(inner: bytes) -> list[tuple[str, str]]:
    """Kinds and texts of an ArticleIdList."""
    return [(kind, tidied(text)) for kind, text in every(_ID, inner)]


def _grant(piece: bytes) -> Grant:
    match = _GRANT.fullmatch(piece.decode())
    if not match:
        raise Irregular
    return indexing.funding(*[text and tidied(text) for text in match.groups()])


def _date(piece: bytes) -> tuple[str | None, str | None]:
    match = _DATE.fullmatch(piece.decode())
    if not match:
        raise Irregular
    status, *parts = match.groups()
    name = HISTORY.get(status)
    return name, stamp_of(*parts) if name else None


def _elements(
    mark: bytes,
    read: Callable[[etree._Element], Value],
    usual: Callable[[bytes], Value] | None = None,
    most: int = 4096,
) -> Callable[[bytes], list[Value]]:
    """Make a reader of a list whose elements open with `mark`, by `usual` where they have that shape."""
    of_element = opened(mark, read)
    return listed(mark, usually(usual, of_element) if usual else of_element, most)


TYPES = Remembered(content(indexing.publication_types))
CHEMICALS = _elements(b"<Chemical>", indexing.chemical)
GRANTS = _elements(b"<Grant>", indexing.grant, _grant)
HEADINGS = _elements(b"<MeshHeading>", indexing.mesh_heading, most=16_384)
HISTORY_DATES = _elements(b"<PubMedPubDate ", history_date, _date, most=16_384)

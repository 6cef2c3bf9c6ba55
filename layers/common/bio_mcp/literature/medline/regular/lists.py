"""Lists whose elements recur from record to record, or are short."""

import re

from bio_mcp.literature.medline import indexing
from bio_mcp.literature.medline.citations import HISTORY, history_date
from bio_mcp.literature.medline.dates import stamp_of
from bio_mcp.literature.medline.regular.fragments import Irregular, Remembered, content, listed, opened, usually
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


_MARKS = b"<Chemical>", b"<Grant>", b"<MeshHeading>", b"<PubMedPubDate "
TYPES = Remembered(content(indexing.publication_types))
CHEMICALS = listed(_MARKS[0], opened(_MARKS[0], indexing.chemical))
GRANTS = listed(_MARKS[1], usually(_grant, opened(_MARKS[1], indexing.grant)))
HEADINGS = listed(_MARKS[2], opened(_MARKS[2], indexing.mesh_heading), 16_384)
HISTORY_DATES = listed(_MARKS[3], usually(_date, opened(_MARKS[3], history_date)), 16_384)

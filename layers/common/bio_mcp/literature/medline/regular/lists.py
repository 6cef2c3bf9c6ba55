"""Lists whose elements recur from record to record, or are short."""

import re
from collections.abc import Callable

from lxml import etree

from bio_mcp.literature.medline import indexing
from bio_mcp.literature.medline.citations import HISTORY, history_date
from bio_mcp.literature.medline.dates import stamp_of
from bio_mcp.literature.medline.regular.fragments import Irregular, Remembered, Value, content, listed, opened, usually
from bio_mcp.literature.medline.regular.texts import every, tidied, tidied_all
from bio_mcp.literature.records import Chemical, Grant, MeshHeading

_KEYWORD = re.compile('<Keyword(?: MajorTopicYN="[YN]")?>([^<]*)</Keyword>')
_ID = re.compile('<ArticleId IdType="([a-z]*)">([^<]*)</ArticleId>')
_GRANT = re.compile(
    "[^<]*(?:<GrantID>([^<]*)</GrantID>[^<]*)?(?:<Acronym>([^<]*)</Acronym>[^<]*)?(?:<Agency>([^<]*)</Agency>[^<]*)?"
    "(?:<Country(?:/>|>([^<]*)</Country>)[^<]*)?</Grant>[^<]*"
)
_DATE = re.compile(
    'PubStatus="([a-z]+)">[^<]*<Year>([0-9]+)</Year>[^<]*<Month>([0-9]+)</Month>[^<]*<Day>([0-9]+)</Day>[^<]*'
    "(?:<Hour>([0-9]+)</Hour>[^<]*<Minute>([0-9]+)</Minute>[^<]*)?</PubMedPubDate>[^<]*"
)
_NAME = re.compile('<(Descriptor|Qualifier)Name UI="([A-Z0-9]*)" MajorTopicYN="([YN])">([^<]*)</\\1Name>')
_CHEMICAL = re.compile(
    "[^<]*<RegistryNumber>([^<]*)</RegistryNumber>[^<]*"
    '<NameOfSubstance UI="([A-Z0-9]*)">([^<]*)</NameOfSubstance>[^<]*</Chemical>[^<]*'
)


def keyword_texts(inner: str) -> list[str]:
    """The texts of a KeywordList."""
    return tidied_all(every(_KEYWORD, inner))


def ids(inner: str) -> list[tuple[str, str]]:
    """Kinds and texts of an ArticleIdList."""
    found = every(_ID, inner)
    return list(zip([kind for kind, _ in found], tidied_all([text for _, text in found]), strict=True))


def _grant(piece: str) -> Grant:
    match = _GRANT.fullmatch(piece)
    if not match:
        raise Irregular
    return indexing.funding(*[text and tidied(text) for text in match.groups()])


def _heading(piece: str) -> MeshHeading | None:
    inner, end, after = piece.partition("</MeshHeading>")
    (kind, ui, major, name), *others = every(_NAME, inner) or [("",) * 4]
    if not end or "<" in after or kind != "Descriptor" or any([each[0] != "Qualifier" for each in others]):
        raise Irregular
    qualifiers = [indexing.qualifier(ui, tidied(name), major == "Y") for _, ui, major, name in others]
    return MeshHeading(ui, tidied(name), major == "Y", tuple(qualifiers))


def _chemical(piece: str) -> Chemical:
    match = _CHEMICAL.fullmatch(piece)
    if not match:
        raise Irregular
    number, ui, name = match.groups()
    return Chemical(ui, tidied(name), tidied(number))


def _date(piece: str) -> tuple[str | None, str | None]:
    match = _DATE.fullmatch(piece)
    if not match:
        raise Irregular
    status, *parts = match.groups()
    name = HISTORY.get(status)
    return name, stamp_of(*parts) if name else None


def _elements(
    mark: str,
    read: Callable[[etree._Element], Value],
    usual: Callable[[str], Value] | None = None,
    most: int = 4096,
) -> Callable[[str], list[Value]]:
    """Make a reader of a list whose elements open with `mark`, by `usual` where they have that shape."""
    of_element = opened(mark, read)
    return listed(mark, usually(usual, of_element) if usual else of_element, most)


TYPES = Remembered(content(indexing.publication_types))
CHEMICALS = _elements("<Chemical>", indexing.chemical, _chemical)
GRANTS = _elements("<Grant>", indexing.grant, _grant)
HEADINGS = _elements("<MeshHeading>", indexing.mesh_heading, _heading, most=16_384)
HISTORY_DATES = _elements("<PubMedPubDate ", history_date, _date, most=16_384)

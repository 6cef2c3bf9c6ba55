"""ReferenceList: most references are a citation without markup and three ids at most."""

import re

from bio_mcp.literature.medline import linking
from bio_mcp.literature.medline.regular.fragments import Irregular, fragment
from bio_mcp.literature.medline.regular.texts import name_text, tidied_all
from bio_mcp.literature.records import Reference

_ID = '(?:<ArticleId IdType="([a-z]+)">([^<]*)</ArticleId>[^<]*)?'
_IDS = 3
_REFERENCE = re.compile(
    "<Reference>[^<]*<Citation>([^<]*)</Citation>[^<]*"
    f"(?:<ArticleIdList>[^<]*{_ID * _IDS}</ArticleIdList>[^<]*)?</Reference>"
)
_GROUPS = 1 + 2 * _IDS


def references(inner: bytes) -> list[Reference]:
    """The same as `linking.references`."""
    parts = _REFERENCE.split(inner.decode())
    cited = _uncommon(parts[0])
    citations = tidied_all(parts[1 :: 1 + _GROUPS])
    for at, citation in zip(range(2, len(parts), 1 + _GROUPS), citations, strict=True):
        reference = Reference(citation or None)
        if parts[at]:
            _set_ids(reference, parts[at : at + 2 * _IDS])
        cited.append(reference)
        after = parts[at + 2 * _IDS]
        if "<" in after:
            cited += _uncommon(after)
    return cited


def _set_ids(reference: Reference, ids: list[str]) -> None:
    for kind, text in zip(ids[::2], ids[1::2], strict=True):
        if kind:
            linking.set_cited_id(reference, kind, name_text(text))


def _uncommon(between: str) -> list[Reference]:
    """Read what stands between the references of the usual shape."""
    if "<" not in between:
        return []
    element = fragment(f"<ReferenceList>{between}</ReferenceList>".encode())
    if any(child.tag != "Reference" and (child.tag != "Title" or len(child)) for child in element):
        raise Irregular
    return linking.references(element)

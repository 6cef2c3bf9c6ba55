"""ReferenceList: most references are a citation without markup and three ids at most."""

import re

from bio_mcp.literature.medline import linking
from bio_mcp.literature.medline.regular.fragments import Irregular, cut, fragment, in_order
from bio_mcp.literature.medline.regular.texts import tidied, tidied_all
from bio_mcp.literature.records import Reference

_TITLE = re.compile("[^<]*<Title>[^<]*</Title>[^<]*")
_ID = '<ArticleId IdType="([a-z]+)">([^<]*)</ArticleId>[^<]*'
_REFERENCE = re.compile(
    "<Reference>[^<]*<Citation>([^<]*)</Citation>[^<]*"
    f"(?:<ArticleIdList>[^<]*(?:{_ID}(?:{_ID}(?:{_ID})?)?)?</ArticleIdList>[^<]*)?</Reference>"
)


def references(inner: str) -> list[Reference]:
    """The same as `linking.references`."""
    between, citations, *ids = cut(_REFERENCE, inner)
    cited = [Reference(citation or None) for citation in tidied_all(citations)]
    for kinds, texts in zip(ids[::2], ids[1::2], strict=True):
        if any(kinds):
            for reference, kind, text in zip(cited, kinds, texts, strict=True):
                if kind:
                    linking.set_cited_id(reference, kind, text if text.isalnum() else tidied(text) or None)
    return in_order(cited, between, _uncommon)


def _uncommon(between: str) -> list[Reference]:
    """Read what stands between the references of the usual shape."""
    if _TITLE.fullmatch(between):
        return []
    element = fragment(f"<ReferenceList>{between}</ReferenceList>".encode())
    if any(child.tag != "Reference" and (child.tag != "Title" or len(child)) for child in element):
        raise Irregular
    return linking.references(element)

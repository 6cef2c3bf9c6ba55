"""Where a quotation stands on a page that is an image: the boxes of its words, which are recognised once more."""

from itertools import accumulate

from bio_mcp.ingesting.files import stored_pdf_key
from bio_mcp.literature.documents import PageWord
from bio_mcp.ports import Backends
from bio_mcp.ports.projects import ProjectDocument
from bio_mcp.retrieval.quotes import comparable, equal_spans, nearest_span, trimmed


def boxed_words(document: ProjectDocument, page: int, quote: str, backends: Backends) -> list[PageWord]:
    """The words of the page that are the quotation, or nearly; none where it does not stand there, or where the file
    is not kept. Raises what `Parser.words` does."""
    if (key := stored_pdf_key(document)) is None:
        return []
    words = backends.parser.words(backends.blobs.get(key), page, document.origin.get("languages") or ())
    text, sought = comparable(" ".join(each.text for each in words)), comparable(trimmed(quote))
    found = next(iter(equal_spans(sought, text)), None) or nearest_span(sought, text)
    if not words or found is None:
        return []
    starts = accumulate((len(each.text) + 1 for each in words[:-1]), initial=0)
    return [
        each
        for start, each in zip(starts, words, strict=True)
        if start < found.end and found.start < start + len(each.text)
    ]

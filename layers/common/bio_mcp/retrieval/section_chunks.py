"""Cut a parsed document into chunks that the embedding model can read whole, each with its title and headings.

A chunk is as many whole sentences of one section as the model has room for beside the context; the next one repeats its
last sentence where that is short, so that no statement is parted from the one before it. The list of references is no
part of what a document says, and its titles would be found in place of its text: it has no chunks.
"""

from collections.abc import Iterator, Sequence

from bio_mcp.literature.parsed import SEPARATOR, ParsedDocument, ParsedSection, SectionKind
from bio_mcp.retrieval.chunking import CountTokens, Sized, WindowFitter
from bio_mcp.retrieval.passages import chunk_uuid
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work

REPEATED_SHARE = 0.2  # of a chunk's room: a longer last sentence is not repeated


def chunks_of_sections(
    document: ParsedDocument, work: Work, count_tokens: CountTokens, max_tokens: int
) -> tuple[ProjectChunk, ...]:
    """The chunks of a document of `work`, in order; none for a document without text.

    Together they cover every character that is no space, but for references. No `embedded_text` is longer than
    `max_tokens` (`count_tokens` counts in the model's own tokens, special ones included). Offsets count in
    `document.text`. A chunk's id follows from the document's id and its position alone.
    """
    chunks: list[ProjectChunk] = []
    offset = 0
    for section in document.sections:
        if section.kind is not SectionKind.REFERENCES:
            chunks += _chunks(
                section,
                offset,
                work,
                len(chunks),
                WindowFitter(
                    section.text,
                    _context(work.title or document.title, section),
                    count_tokens,
                    max_tokens,
                    _whole_sentences,
                ),
            )
        offset += len(section.text) + len(SEPARATOR)
    return tuple(chunks)


def _chunks(section: ParsedSection, offset: int, work: Work, first: int, fit: WindowFitter) -> Iterator[ProjectChunk]:
    """Yield the chunks of a section that begins at `offset` of the document; `first` is the position of the first."""
    for position, (start, end) in enumerate(fit.windows((0, len(section.text))), start=first):
        yield ProjectChunk(
            chunk_id=chunk_uuid(work.doc_id, f"c{position}"),
            work=work,
            text=section.text[start:end],
            position=position,
            context=fit.title,
            section=section.heading,
            section_path=section.path,
            page_span=section.pages_of(start, end),
            char_start=offset + start,
            char_end=offset + end,
            kind=section.kind,
        )


def _context(title: str | None, section: ParsedSection) -> str:
    """Title and headings, as a sentence before the text."""
    parts = [each.strip() for each in (title or "", " > ".join(section.path)) if each.strip()]
    return "".join(part if part[-1] in ".?!" else f"{part}." for part in [". ".join(parts)] if part)


def _whole_sentences(sentences: Sequence[Sized], room: int) -> Iterator[list[Sized]]:
    """Yield runs of sentences that fit `room` tokens; each begins with the last of the one before, if that is short."""
    start = 0
    while start < len(sentences):
        end, total = start + 1, sentences[start].tokens
        while end < len(sentences) and total + sentences[end].tokens <= room:
            total += sentences[end].tokens
            end += 1
        yield list(sentences[start:end])
        if end == len(sentences):
            return
        last = sentences[end - 1].tokens
        repeats = end - start > 1 and last <= REPEATED_SHARE * room and last + sentences[end].tokens <= room
        start = end - 1 if repeats else end

"""Make an answer of extracts: what the language model makes of them, or else the extracts, word for word."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bio_mcp.answering.extracts import Extract
from bio_mcp.answering.writing import EXTRACTIVE, GENERATED, Written, WrittenSentence, write
from bio_mcp.deadline import Deadline
from bio_mcp.ports import Backends

_TOO_FEW = "What the language model wrote rests on fewer than {} papers, so the answer is the extract."


def compose(question: str, cited: Sequence[Extract], least: int, backends: Backends, deadline: Deadline) -> Written:
    """An answer that rests on at least `least` papers, as the extracts do that it is made of.

    Raises what `write` raises.
    """
    quotes = [each.span.quote for each in cited]
    written = write(question, quotes, backends, deadline)
    if written.mode == GENERATED:
        papers = {cited[at].span.pmid for sentence in written.sentences for at in sentence.cites}
        if len(papers) >= least:
            return written
        written = Written((), EXTRACTIVE, (_TOO_FEW.format(least),))
    return replace(written, sentences=tuple(WrittenSentence(quote, (at,)) for at, quote in enumerate(quotes)))


def text_of(sentences: Iterable[WrittenSentence]) -> str:
    """The sentences as one text, each with the numbers, from 1, of what it cites."""
    return " ".join(f"{each.text} {''.join(f'[{at + 1}]' for at in each.cites)}" for each in sentences)

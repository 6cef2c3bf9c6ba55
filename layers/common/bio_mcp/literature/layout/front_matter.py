"""What a paper begins with: its title."""

from collections.abc import Sequence

from bio_mcp.literature.layout.lines import FlowLine

_LARGER = 1.15  # times the text's size
_LINES = 8


def title_lines(flow: Sequence[FlowLine], end: int, size: float) -> Sequence[FlowLine]:
    """Return the lines of the title: the largest of the first page's before `end`; none where they are no larger."""
    first = [line for line in flow[:end] if line.page == flow[0].page and _is_worded(line.text)]
    if not first:
        return ()
    largest = max(line.line.size for line in first)
    if largest < _LARGER * size:
        return ()
    title = [line for line in first if line.line.size > 0.97 * largest]
    begin = first.index(title[0])
    return [line for line in title if begin <= first.index(line) < begin + len(title)][:_LINES]


def _is_worded(text: str) -> bool:
    return sum(map(str.isalpha, text)) >= 4 and (" " in text or not text.isascii() or len(text) > 8)

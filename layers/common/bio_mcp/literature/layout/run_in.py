"""Headings at the beginning of a paragraph's first line, as in "Funding: This work was supported by"."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from bio_mcp.literature.layout.lines import FlowLine
from bio_mcp.literature.layout.section_names import is_abstract, is_after_text

_RUN_IN = re.compile(r"(?P<name>[^\W\d][^:.—]{3,40}?)\s?([:—]|[.–](?=\s))\s*(?=\S)")


def parted_headings(flow: Sequence[FlowLine]) -> Iterator[FlowLine]:
    """Yield the lines, those that begin with the name of an abstract or of what follows a paper's text in two."""
    before: FlowLine | None = None
    for line in flow:
        found = _RUN_IN.match(line.text) if before is None or _may_begin(before, line) else None
        before = line
        if not found or not (is_abstract(found["name"]) or is_after_text(found["name"])):
            yield line
            continue
        split = line.line.x0 + (line.line.x1 - line.line.x0) * found.end() / len(line.text)
        name = replace(line.line, text=found["name"], x1=split, bold=True, font=f"{line.line.font}/run-in")
        yield replace(line, line=name)
        before = replace(line, line=replace(line.line, text=line.text[found.end() :], x0=split))
        yield before


def _may_begin(before: FlowLine, line: FlowLine) -> bool:
    gap = before.gap_below(line)
    return gap < 0 or gap > 1.4 or line.indented or before.text.endswith(".") or before.line.style != line.line.style

"""Headings: which lines they are, and how deep they stand."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bio_mcp.literature.layout.lines import FlowLine, PositionedLine
from bio_mcp.literature.layout.section_names import bare, depth, is_contents, is_main, is_references, is_top

_RUN = 4  # lines of one style in a row: more are text, fewer may be a heading
_LONGEST = 220  # letters of a heading
_APART = 1.6  # font sizes between the baselines of two lines of one heading
_SMALLEST = 0.7  # of the text's size: lettering in a figure is smaller
_COMMON = 0.05  # of all letters
_LEADERS = re.compile(r"(\. ?){4}")  # of a table of contents
_WORDS = 30  # letters by which a line of the text's size is text, whatever its font
_FRONT_PAGES = 2  # after the first, on which the text begins at last
_NO_HEADING = re.compile(
    r"received|accepted|published|revised|submitted|available online|doi|correspond|e-?mail|key ?words?|copyright|cite|"
    r"©|https?:",
    re.IGNORECASE,
)

Style = tuple[float, str, bool]


@dataclass(frozen=True, slots=True)
class Heading:
    """The lines from `start` to `end` are a heading, `level` deep, from 1."""

    start: int
    end: int
    text: str
    level: int


def headings(flow: Sequence[FlowLine], size: float, outline: Sequence[tuple[int, str, int]] = ()) -> list[Heading]:
    """Find the headings among the lines of the text, whose own size is `size`.

    `outline` has page, title and level of the file's own bookmarks.
    """
    text_styles = _text_styles(flow, size)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(flow):
        end = _heading_end(flow, at, size, text_styles)
        if end > at:
            found.append((at, end))
        at = max(end, at + 1)
    found = _without_contents(flow, _in_text(flow, found, size, text_styles))
    found = _without_entries(flow, _after_front_matter(flow, found))
    texts = [" ".join(each.text for each in flow[start:end]) for start, end in found]
    levels = _levels([flow[start].line for start, _ in found], texts, _marked(flow, found, texts, outline))
    return [Heading(start, end, text, level) for (start, end), text, level in zip(found, texts, levels, strict=True)]


def _text_styles(flow: Sequence[FlowLine], size: float) -> set[Style]:
    """Styles in which text runs on for lines, and that of most letters; larger type is text only where it is common."""
    letters: Counter[Style] = Counter()
    for line in flow:
        letters[line.line.style] += len(line.text)
    styles = {style for style, _ in letters.most_common(1)}
    run = 0
    for before, line in zip([None, *flow], flow, strict=False):
        same = before is not None and before.line.style == line.line.style and before.column == line.column
        run = run + 1 if same and before is not None and not before.short else 1
        if run > _RUN and (line.line.size <= 1.05 * size or letters[line.line.style] > _COMMON * letters.total()):
            styles.add(line.line.style)
    return styles


def _heading_end(flow: Sequence[FlowLine], at: int, size: float, text_styles: set[Style]) -> int:
    """Where the heading that begins at `at` ends; `at` if none does."""
    line = flow[at]
    if not _may_be_heading(line, size, text_styles) or not _stands_apart(flow, at):
        return at
    if is_top(line.text):
        return at + 1
    end = at + 1
    while end < len(flow) and _goes_on(flow[end - 1], flow[end]) and end - at <= _RUN:
        end += 1
    return end if end - at <= _RUN and _reads_as_heading(" ".join(each.text for each in flow[at:end])) else at


def _may_be_heading(line: FlowLine, size: float, text_styles: set[Style]) -> bool:
    text, style = line.text, line.line.style
    if is_top(text):
        return style not in text_styles or text.isupper() or bare(text)[:1].isupper()
    if (line.line.mixed and line.line.size <= 1.05 * size) or line.line.size < _SMALLEST * size:
        return False
    if style in text_styles and not (line.line.italic or text.isupper()):
        return False
    return (
        line.line.bold or line.line.italic or line.line.size > 1.05 * size or text.isupper() or style not in text_styles
    )


def _stands_apart(flow: Sequence[FlowLine], at: int) -> bool:
    """Whether a line begins something: a column, after a gap, or where a sentence ended or another style did."""
    if not at:
        return True
    before, line = flow[at - 1], flow[at]
    gap = before.gap_below(line)
    if gap < 0 or gap > 1.6 or abs(before.line.size - line.line.size) > 0.05 * line.line.size:
        return True
    return before.text.endswith((".", "!", "?", ":")) or (before.line.style != line.line.style and before.short)


def _goes_on(line: FlowLine, below: FlowLine) -> bool:
    same = line.line.style == below.line.style and line.line.italic == below.line.italic
    return same and 0 < line.gap_below(below) < _APART and depth(below.text) is None


def _reads_as_heading(text: str) -> bool:
    """Whether the text is like a heading: begins as one, has a word, does not end as a sentence."""
    words = bare(text).replace(" ", "")
    if not words or len(text) > _LONGEST or sum(map(str.isalpha, words)) < 0.6 * len(words):
        return False
    if text.endswith((",", ";", ":")) or _LEADERS.search(text):
        return False
    if (text.endswith(".") and depth(text) is None) or not re.search(r"[^\W\d_]{3}", text):
        return False
    return (text[0].isalnum() or text[0] in "“‘«¿(") and not text[0].islower() and not _NO_HEADING.match(text)


def _in_text(
    flow: Sequence[FlowLine], found: Sequence[tuple[int, int]], size: float, text_styles: set[Style]
) -> list[tuple[int, int]]:
    """Those after which text comes, or another heading after which it does; not the lettering of figures."""
    chosen: list[tuple[int, int]] = []
    follows: int | None = None
    for start, end in reversed(found):
        text_next = end < len(flow) and (end == follows or _is_text(flow[end], size, text_styles))
        if text_next or is_top(flow[start].text):
            chosen.append((start, end))
            follows = start
    return chosen[::-1]


def _is_text(line: FlowLine, size: float, text_styles: set[Style]) -> bool:
    return line.line.style in text_styles or (abs(line.line.size - size) <= 0.05 * size and len(line.text) > _WORDS)


def _after_front_matter(flow: Sequence[FlowLine], found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those from the first on that is known by name or number: before it, large type is title and authors."""
    known = [at for at, (start, _) in enumerate(found) if is_top(flow[start].text) or depth(flow[start].text)]
    early = known and flow[found[known[0]][0]].page <= flow[0].page + _FRONT_PAGES
    return list(found[known[0] :] if early else found)


def _without_contents(flow: Sequence[FlowLine], found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that are no entry of a table of contents: after its heading, what comes again or ends with a page."""
    texts = [" ".join(line.text for line in flow[start:end]) for start, end in found]
    names = [_letters(text).rstrip("0123456789") for text in texts]
    chosen: list[tuple[int, int]] = []
    within = False
    for at, text in enumerate(texts):
        within = is_contents(text) or (within and (text[-1].isdigit() or names[at] in names[at + 1 :]))
        if not within or is_contents(text):
            chosen.append(found[at])
    return chosen


def _without_entries(flow: Sequence[FlowLine], found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that are no part of a list of references: after its heading, only such as are set or named alike."""
    chosen: list[tuple[int, int]] = []
    references: FlowLine | None = None
    for start, end in found:
        line = flow[start]
        alike = references is not None and _style(line.line) == _style(references.line)
        if references is None or is_top(line.text) or (alike and not depth(line.text)) or _is_larger(line, references):
            references = line if is_references(line.text) else None
            chosen.append((start, end))
    return chosen


def _is_larger(line: FlowLine, other: FlowLine) -> bool:
    return line.line.size > 1.02 * other.line.size and (line.line.bold or not other.line.bold)


def _marked(
    flow: Sequence[FlowLine],
    found: Sequence[tuple[int, int]],
    texts: Sequence[str],
    outline: Sequence[tuple[int, str, int]],
) -> dict[int, int]:
    """The level of each heading that a bookmark of its page names."""
    levels = {(page, _letters(title)): level for page, title, level in outline}
    keys = (
        (at, (flow[start].page, _letters(text))) for at, ((start, _), text) in enumerate(zip(found, texts, strict=True))
    )
    return {at: levels[key] for at, key in keys if key in levels}


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _levels(lines: Sequence[PositionedLine], texts: Sequence[str], marked: dict[int, int]) -> list[int]:
    """The level of each heading: by bookmark, by number, by name, and else by that of its style."""
    certain: dict[int, int] = {}
    for at, text in enumerate(texts):
        level = marked.get(at) or depth(text) or (1 if is_top(text) else None)
        if level:
            certain[at] = level
    by_style: dict[Style, int] = {}
    styles = [_style(line) for line in lines]
    for style in set(styles):
        levels = Counter(certain[at] for at, each in enumerate(styles) if each == style and at in certain)
        if levels:
            by_style[style] = levels.most_common(1)[0][0]
    main = {styles[at] for at, text in enumerate(texts) if is_main(text)}
    ranked = _ranked(dict.fromkeys(styles), by_style, main)
    return [certain.get(at) or by_style.get(style) or ranked[style] for at, style in enumerate(styles)]


def _style(line: PositionedLine) -> Style:
    face = line.font + ("/italic" if line.italic else "") + ("/capitals" if line.text.isupper() else "")
    return line.size, face, line.bold


def _ranked(styles: Iterable[Style], known: dict[Style, int], main: set[Style]) -> dict[Style, int]:
    """Levels of the styles that nothing is known of: larger ones above, below that of the main sections."""
    unknown = [each for each in styles if each not in known]
    unknown.sort(key=lambda each: (-each[0], "/capitals" not in each[1], not each[2], "/italic" in each[1]))
    base = max((known[each] for each in main if each in known), default=0)
    largest = max((each[0] for each in main), default=0.0)
    level, ranks = base, {}
    for style in unknown:
        level = max(1, base) if style[0] > largest > 0 else level + 1
        ranks[style] = level
    return ranks

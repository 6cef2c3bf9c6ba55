"""Headings: which lines they are, how deep they stand, and the names that sections have."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from bio_mcp.literature.layout.lines import FlowLine, PositionedLine

_NAMES = {  # of sections of papers, before the text, in it, after it, and of boxes that stand anywhere in it
    "main": """
introduction; background; aims?; objectives?; methods?; results?; findings; discussion; conclusions?; description;
(subjects|patients|participants|materials?|animals)( and|,| &) methods; methods? and materials?; methodology;
experimental( section| procedures)?; results?( and | ?[&/] ?)discussions?; discussion and conclusions?; reagents;
(summary and |concluding )?conclusions?( and .{3,40})?; concluding remarks;
einleitung; einführung; hintergrund; (material|patienten) und methoden?; methodik; methoden?; diskussion; fazit;
ergebnisse( und diskussion)?; schlussfolgerung(en)?;
(matériels? et )?méthodes?; résultats; introducción; (material(es)? y )?métodos?; resultados; discusión; conclusiones;
บทนำ; วัตถุประสงค์; วิธี(การ|ดำเนินการ)?(วิจัย|ศึกษา|ทดลอง)?; วัสดุและวิธีการ; ผล(การ)?(วิจัย|ศึกษา|ทดลอง);
อภิปราย(ผล)?; วิจารณ์; สรุป(ผล)?
""",
    "references": """
references( and notes)?; reference list; bibliography; literature( cited)?; works cited;
literatur(verzeichnis)?; quellen(verzeichnis)?; références( bibliographiques)?; bibliographie;
referencias( bibliográficas)?; bibliografía; เอกสารอ้างอิง; บรรณานุกรม
""",
    "contents": "(table of )?contents; inhalt(sverzeichnis)?; sommaire; table des matières; índice; สารบัญ",
    "abstract": "(structured )?abstract; summary; zusammenfassung; kurzfassung; résumé; resumen; บทคัดย่อ",
    "formal": r"""
title page; acknowled?ge?ments?; funding( information| sources?| statement)?; financial (support|disclosures?);
disclosures?( statement)?; orcid( ids?)?; sources? of (funding|support); declarations?;
(declaration of |statement of )?(competing|conflicting)( financial)? interests?( .{4,20})?;
(declaration of |statement of )?conflicts? of interests?( .{4,20})?;
authors?[’']?s?[’']? contributions?( .{4,20})?; contributors; contributorship; about the authors?;
authors?[’']?s?[’']? (details|information|affiliations?); credit( authorship)?( contribution)? statement;
consent for publication; reviewed by; provenance and peer review; peer review history; publisher[’']?s note;
(copyright|licen[cs]e)( and licen[cs]e)?; rights and permissions; danksagung; interessenkonflikte?;
finanzierung; remerciements; financement; conflits? d[’']intérêts?; agradecimientos;
 financiación; conflictos? de intereses; กิตติกรรมประกาศ
""",
    "back": """
data( and code)? availability( statement)?; availability of data.{0,40};
supplement(ary|al) (materials?|information|data|files?); supporting information; additional (files?|information);
ethics.{0,40}; ethical approval; abbreviations; footnotes; endnotes; appendi(x|ces)( [a-z0-9]{1,2})?; anhang; annexes?;
anexos?; ภาคผนวก
""",
    "aside": r"""
(statement of )?significance( statement)?; key (points?|messages?); highlights; in brief; author summary;
(plain language|lay) (summary|abstract); box \d{1,2}.{0,60}; what is (already )?known.{0,40};
what this (study|paper) adds.{0,40}; research in context; graphical abstract; (clinical|translational) perspectives?;
take[- ]home (message|points?)
""",
}
_NAMED = {
    kind: re.compile("|".join(name.strip() for name in names.split(";")), re.IGNORECASE)
    for kind, names in _NAMES.items()
}
_NUMBER = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,2}){0,4}|[IVX]{1,5}|[A-Z])[.)]?\s+(?=\S)|\d{1,2}(?:\.\d{1,2}){1,4}\.?(?=[^\W\d_])"
)
_SPACED = re.compile(r"(?:\w ){3,}\w")


def bare(heading: str) -> str:
    """The heading's words alone: no number before, no punctuation after, no spaces between its letters."""
    text = heading.replace(" ", "") if _SPACED.fullmatch(heading) else heading
    return _NUMBER.sub("", text, count=1).strip(" .:–—-|■●")


@lru_cache(maxsize=4096)
def named(heading: str) -> str:
    """What section of papers it names: main, abstract, references, back, contents, or formal, which says nothing of the
    matter, or aside, a box of its own; "" for any other."""
    name = bare(heading)
    return next((kind for kind, names in _NAMED.items() if names.fullmatch(name)), "")


def is_top(heading: str) -> bool:
    """Whether sections of this name stand at the top level: main ones, and what comes before and after them."""
    return named(heading) not in ("", "contents", "aside")


def is_evidence(path: Sequence[str]) -> bool:
    """Whether a section below these headings may say something of the matter: no title page, funding, references."""
    return not any(named(each) in ("formal", "references", "contents") for each in path)


def depth(heading: str) -> int | None:
    """How deep its number says that it is, from 1; None without a number."""
    found = re.match(r"(\d{1,2}(?:\.\d{1,2}){0,4})[.)]?\s*(?=[^\W\d_])|([IVX]{1,5}|[A-H])[.)]\s+(?=\S)", heading)
    if not found:
        return None
    return found[1].count(".") + 1 if found[1] else (2 if found[2] in "ABCDEFGH" else 1)


_RUN = 4  # lines of one style in a row: more are text, fewer may be a heading
_LONGEST = 220  # letters of a heading
_APART = 1.6  # font sizes between the baselines of two lines of one heading
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
RUN_IN = "/run-in"  # ends the font of a heading that stands in the first line of its text


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
    texts = [_text(flow[start:end]) for start, end in found]
    bookmarks = {(page, _letters(title)): level for page, title, level in outline}
    marked = [bookmarks.get((flow[start].page, _letters(text))) for (start, _), text in zip(found, texts, strict=True)]
    levels = _levels([flow[start].line for start, _ in found], texts, marked)
    if not any(map(depth, texts)):
        levels = _raised(found, levels)
    return [Heading(start, end, text, level) for (start, end), text, level in zip(found, texts, levels, strict=True)]


def _text(lines: Sequence[FlowLine]) -> str:
    text = " ".join(each.text for each in lines)
    return text.rstrip(" .:—–") if lines[0].line.font.endswith(RUN_IN) else text


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
    if _is_part_of_formula(flow, at, size):
        return at
    end = at + 1
    while end < len(flow) and depth(flow[end].text) is None:
        above, below = flow[end - 1], flow[end]
        alike = above.line.style == below.line.style and above.line.italic == below.line.italic
        if not alike or not 0 < above.gap_below(below) < _APART:
            break
        end += 1
    return end if end - at <= _RUN and _reads_as_heading(_text(flow[at:end])) else at


_EQUALS = re.compile("[=≈∝≡¼∑∫√]")  # and ¼, which fonts of equations have in the place of =
_NUMBERED = re.compile(r"[(ð]\d{1,3}[a-z]?[)Þ]$")
_ASIDE = re.compile(r"\([^()]*\)")
_PROSE_WORD = re.compile("[a-z]{4}")
_BESIDE = 3  # lines around a part of an equation among which its sign is looked for
_PART = 1.5  # font sizes between their baselines, at most


def _is_formula(line: FlowLine) -> bool:
    """Whether a line is an equation, or has its sign: few words, and a sign that stands in no brackets."""
    text = line.text
    signed = bool(_EQUALS.search(_ASIDE.sub("", text) or text))
    return signed and (bool(_NUMBERED.search(text)) or len(_PROSE_WORD.findall(text)) <= 3)


def _is_part_of_formula(flow: Sequence[FlowLine], at: int, size: float) -> bool:
    """Whether a line is an equation, or stands close above or below one: smaller than the text, or set in from it."""
    line = flow[at]
    if _is_formula(line):
        return True
    if not line.indented and line.line.size > 0.9 * size:
        return False
    near = (flow[each] for each in range(max(0, at - _BESIDE), min(len(flow), at + _BESIDE + 1)) if each != at)
    same = (each for each in near if each.column == line.column and each.page == line.page)
    return any(abs(each.line.y - line.line.y) < _PART * size and _is_formula(each) for each in same)


def _may_be_heading(line: FlowLine, size: float, text_styles: set[Style]) -> bool:
    text, style = line.text, line.line.style
    if is_top(text):
        return style not in text_styles or text.isupper() or bare(text)[:1].isupper()
    if line.line.mixed and line.line.size <= 1.05 * size:
        return False
    return style not in text_styles or line.line.italic or text.isupper()


def _stands_apart(flow: Sequence[FlowLine], at: int) -> bool:
    """Whether a line begins something: a column, after a gap, or where a sentence ended or another style did."""
    if not at:
        return True
    before, line = flow[at - 1], flow[at]
    gap = before.gap_below(line)
    if gap < 0 or gap > 1.6 or abs(before.line.size - line.line.size) > 0.05 * line.line.size:
        return True
    return before.text.endswith((".", "!", "?", ":")) or (before.line.style != line.line.style and before.short)


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
        after = flow[end] if end < len(flow) else None
        long = after is not None and abs(after.line.size - size) <= 0.05 * size and len(after.text) > _WORDS
        text_next = after is not None and (end == follows or after.line.style in text_styles or long)
        if text_next or is_top(flow[start].text):
            chosen.append((start, end))
            follows = start
    return chosen[::-1]


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
        heads = named(text) == "contents"
        within = heads or (within and (text[-1].isdigit() or names[at] in names[at + 1 :]))
        if not within or heads:
            chosen.append(found[at])
    return chosen


def _without_entries(flow: Sequence[FlowLine], found: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those that are no part of a list of references: after its heading, only such as are set or named alike."""
    chosen: list[tuple[int, int]] = []
    references: FlowLine | None = None
    for start, end in found:
        line = flow[start]
        if references is None or is_top(line.text) or _is_set_as(line, references):
            references = line if named(line.text) == "references" else None
            chosen.append((start, end))
    return chosen


def _is_set_as(line: FlowLine, references: FlowLine) -> bool:
    """Whether a line is set as that heading is, or larger."""
    alike = _style(line.line) == _style(references.line) and not depth(line.text)
    return alike or (line.line.size > 1.02 * references.line.size and (line.line.bold or not references.line.bold))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


def _levels(lines: Sequence[PositionedLine], texts: Sequence[str], marked: Sequence[int | None]) -> list[int]:
    """The level of each heading: by bookmark, by number, by name, and else by that of its style."""
    certain = [mark or depth(text) or (1 if is_top(text) else 0) for mark, text in zip(marked, texts, strict=True)]
    styles = [_style(line) for line in lines]
    main = {styles[at] for at, text in enumerate(texts) if named(text) == "main"}
    by_style: dict[Style, int] = {}
    for style in set(styles):
        # What stands behind the text is often set as subsections are.
        levels = Counter(
            level
            for level, each, text in zip(certain, styles, texts, strict=True)
            if level and each == style and (style in main or not main or named(text) not in ("formal", "back"))
        )
        if levels:
            by_style[style] = levels.most_common(1)[0][0]
    ranked = _ranked(dict.fromkeys(styles), by_style, main)
    return [level or by_style.get(style) or ranked[style] for level, style in zip(certain, styles, strict=True)]


def _raised(found: Sequence[tuple[int, int]], levels: Sequence[int]) -> list[int]:
    """The levels, with those raised by one that stand below the only subsection of their section: that has a text of
    its own and several follow it, so they are its neighbours, set in other type by mistake."""
    raised = list(levels)
    tops = [*(at for at, level in enumerate(levels) if level == 1), len(levels)]
    for top, end in pairwise(tops):
        first, others = top + 1, levels[top + 2 : end]
        if len(others) < 2 or levels[first] != 2 or min(others) < 3:
            continue
        if found[first][1] < found[first + 1][0]:
            raised[first + 1 : end] = [each - 1 for each in others]
    return raised


def _style(line: PositionedLine) -> Style:
    face = line.font + ("/italic" if line.italic else "") + ("/capitals" if line.text.isupper() else "")
    return line.size, face, line.bold


def _ranked(styles: Iterable[Style], known: dict[Style, int], main: set[Style]) -> dict[Style, int]:
    """Levels of the styles that nothing is known of: larger ones above, below that of the main sections."""
    unknown = [each for each in styles if each not in known]
    unknown.sort(
        key=lambda each: (
            RUN_IN in each[1],
            -each[0],
            "/capitals" not in each[1],
            not each[2],
            "/italic" in each[1],
        )
    )
    base = max((known[each] for each in main if each in known), default=0)
    largest = max((each[0] for each in main), default=0.0)
    level, ranks = base, {}
    for style in unknown:
        level = max(1, base) if style[0] > largest > 0 and RUN_IN not in style[1] else level + 1
        ranks[style] = level
    return ranks


_NAME = re.compile(r"(?P<name>[^\W\d][^:.—]{3,40}?)\s?([:—]|[.–](?=\s))\s*(?=\S)")
_CAPTION = re.compile(r"(fig|tab|abb|table|box|scheme|video|supplement)", re.IGNORECASE)
_LONGEST_RUN_IN = 100  # letters


def parted_headings(flow: Sequence[FlowLine]) -> Iterator[FlowLine]:
    """Yield the lines, those that begin with a heading in two: with the name of an abstract or of what follows a
    paper's text, or with words in bold or italic type and a colon or a full stop, but for the labels of an abstract."""
    before: FlowLine | None = None
    in_abstract = False
    for line in flow:
        begins = (
            before is None
            or not 0 <= before.gap_below(line) <= 1.4
            or line.indented
            or before.text.endswith(".")
            or before.line.style != line.line.style
        )
        end = (_name_end(line.text) or (0 if in_abstract else _lead_end(line))) if begins else 0
        if is_top(line.text[:_LONGEST]):
            in_abstract = named(line.text) == "abstract"
        before = line
        if not end:
            yield line
            continue
        in_abstract = named(line.text[:end].rstrip(" .:—–")) == "abstract"
        split = line.line.x0 + (line.line.x1 - line.line.x0) * end / len(line.text)
        font = f"{line.line.font}{RUN_IN}"
        name = replace(line.line, text=line.text[:end].strip(), x1=split, bold=True, font=font, mixed=False, lead=0)
        yield replace(line, line=name)
        before = replace(line, line=replace(line.line, text=line.text[end:].strip(), x0=split, lead=0))
        yield before


def _name_end(text: str) -> int:
    """Where the name of a section ends with which the text begins; 0 where it begins with none."""
    found = _NAME.match(text)
    return found.end() if found and named(found["name"]) in ("abstract", "formal", "back") else 0


def _lead_end(line: FlowLine) -> int:
    """Where the heading ends that is set in other type in the first line of its text; 0 where there is none."""
    lead = line.line.lead
    if not 4 <= lead <= _LONGEST_RUN_IN or line.line.angle:
        return 0
    name, rest = line.text[:lead].rstrip(), line.text[lead:].lstrip()
    end = lead
    if rest[:1] in (".", ":", "—", "–") and not name.endswith((".", ":", "—", "–")):
        name, end = name + rest[0], line.text.index(rest[0], len(name)) + 1
        rest = rest[1:].lstrip()
    if not name.endswith((".", ":", "—", "–")) or not rest or rest[0].islower():
        return 0
    bare_name = name.rstrip(" .:—–")
    fits = not _CAPTION.match(name) and named(bare_name) not in ("main", "abstract", "aside")
    return end if fits and _reads_as_heading(bare_name) else 0

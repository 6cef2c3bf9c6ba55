"""Lists of references in plain text: where each begins, and its fields, whatever its style."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from bio_mcp.literature.references.works import LONGEST, CitedWork, Kind, ids_in, refuse_too_many, work

_UPPER = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x250) if chr(code).isupper())
_LOWER = "a-z" + "".join(chr(code) for code in range(0xC0, 0x250) if chr(code).islower())
_INNER = r"(?:van der|van den|van de|de la|de los|de|del|der|den|dos|da|di|du|van|von|la|le|e|y|zu|el|al|bin)"
_OUTER = "Van|Von|De|Del|Della|Di|Da|Du|La|Le|El|Al|Ten|Ter|St\\.?"
_PARTICLE = rf"(?:(?:{_INNER}|(?:{_OUTER})(?=\s[{_UPPER}a-z]))[ -]+(?:'t )?){{0,3}}"
_WORD = (
    rf"(?:[{_UPPER}][\w’'`´ʼ‐–-]{{0,40}}[{_LOWER}’][\w’'`´ʼ‐–-]{{0,20}}|[{_UPPER}]’?[A-Z’'‐-]{{1,30}}"
    r"|O[’'][A-Z]\w{1,30}|d[’'][A-Z]\w{1,30}|O(?=,?\s[A-Z]))"
)
_SURNAME = rf"{_PARTICLE}{_WORD}(?:[ -](?:{_INNER} )?{_WORD}){{0,2}}?"
_RANK = r"(?:,?\s(?:Jr|Sr|2nd|3rd|4th|II|III|IV)\b\.?)?"
_BARE = rf"[{_UPPER}](?:[{_UPPER}]|-[{_UPPER}]){{0,4}}"
_POINTED = rf"(?:(?:[{_UPPER}]|Yu|Ya|Zh|Kh|Ch|Sh|Th|Ph|Ts|Iu|Ia)\.(?:\s?[-‐]\s?|\s)?(?:(?:de|van|von) )?){{1,5}}"
_NAME_ENDS = r"(?=\s*(?:[,;:&(]|and\b|et\b|\.|$))"
_FORMS = {  # compiled on first use, as they take 30 ms
    "bare": rf"{_SURNAME}\s{_BARE}(?![\w.]*[a-z])(?!\.\s?[{_UPPER}]\.){_RANK}",
    "comma": rf"{_SURNAME},\s{_POINTED}(?<!\s){_RANK}",
    "comma_bare": rf"{_SURNAME},\s{_BARE}(?![\w]){_RANK}",
    "straight": rf"(?!J\.\s[A-Z]\w+\.){_POINTED}\s?{_SURNAME}(?![\w’'-]){_RANK}{_NAME_ENDS}(?!\.\s?[A-Z])",
    "pointed": rf"{_SURNAME}\s{_POINTED}(?<!\s){_RANK}",
}
_NEXT = {
    "bare": ("bare", "pointed"),
    "comma": ("comma", "straight"),
    "comma_bare": ("comma_bare", "bare"),
    "straight": ("straight",),
    "pointed": ("pointed", "bare"),
}
_SEPARATOR = re.compile(
    r"\s*(?:,\s*(?:&|and|und|et)\s|;\s*(?:&|and)?\s*|,\s*(?:…|\.\s?\.\s?\.)\s*(?:&\s*)?|\s(?:&|and|und|et)\s|,\s*)\s*"
)
_ETAL = re.compile(r"[\s,;&]*(?:\bet\.?\s*al\b\.?|\band others\b|\band colleagues\b|…|\.\s\.\s\.)", re.IGNORECASE)
_GROUPS = "Group|Consortium|Investigators|Collaborat\\w+|Network|Committee|Society|Team|Initiative|Study|Trialists"
_GROUP = re.compile(
    rf"[\s,;]+(?:for|on behalf of|and)?\s*(?:the\s)?[A-Z][^.;,]{{2,120}}?(?:{_GROUPS})\b[^.;(]{{0,40}}?(?=[.;:(])"
)
MOST = 300
_EDITORS = re.compile(r"\s*\(?\b[eE]ds?\b\.?\)?")


@dataclass(frozen=True, slots=True)
class People:
    """Names as written, whether there are more, and where the list ends in the text."""

    names: tuple[str, ...] = ()
    etal: bool = False
    end: int = 0


def people_in(text: str) -> People:
    """The authors that `text` begins with; none where it begins with something else."""
    first = next(((form, found) for form, name in _FORMS.items() if (found := re.match(name, text))), None)
    if first is None:
        return People()
    forms = _NEXT[first[0]]
    names, end = [first[1][0]], first[1].end()
    while len(names) < MOST and (separator := _SEPARATOR.match(text, end)):
        found = next((name for form in forms if (name := re.compile(_FORMS[form]).match(text, separator.end()))), None)
        if found is None:
            break
        names.append(found[0])
        end = found.end()
    if group := _GROUP.match(text, end):
        end = group.end()
    if more := _ETAL.match(text, end):
        end = more.end()
    return People(tuple(name.strip(" ,") for name in names), bool(more), end)


_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Spring|Summer|Fall|Autumn|Winter)[a-z]*\.?"
_DATE = rf"(?:\s*{_MONTH}(?:[-–/]{_MONTH})?)?(?:\s*\d{{1,2}}(?:st|nd|rd|th)?)?(?:[-–]\s?(?:{_MONTH}\s?)?\d{{1,2}})?"
_YEAR = r"(?<![\d./–-])(?P<year>1[6-9]\d\d|20\d\d)"
_PAGE = r"(?:[A-Za-z]{1,6}\.?\s?)?\d[\w.]*?|[ivxlc]+"
_PAGES = rf"(?P<pages>(?:{_PAGE})(?:\s*[-–—‐‑−]+\s*(?:{_PAGE}))?)"
_VOLUME = r"(?P<volume>\d{1,4}[A-Za-z]?(?:\s?[-–/]\s?\d{1,4}|\s?Suppl\.?(?:\s\d+)?|\s?Pt\s\d+)?|[IVXLC]{1,7}(?![a-z]))"
_ISSUE = r"(?:\s*[(\[](?P<issue>[^()\[\]]{1,40})[)\]])"
_ARTICLE = r"(?:pp?\.\s?|pages?\s|[Aa]rt(?:icle|\.)?\s?(?:[Nn]o\.?|[Nn]umber|ID)?\s?|[Nn]o\.\s?|[Ii]D\s)?"
_IMPRINT_END = r"(?=[\s.,;:)\]]|$)"
_YEARS = (
    rf"\((?:[^()\d]{{0,30}}\s)?{_YEAR}[a-z]?(?:[,;/]?\s[^()]{{0,30}})?\)(?!\s*[:,]?\s*\d+[-–]\d)",
    rf"{_YEAR}{_DATE}\s*[;]",
    rf"(?:[.,]\s*){_YEAR}[a-z]?{_DATE}[\s.,:]*(?=(?:[Vv]ol\.?\s?)?\d+[A-Za-z]?\s*[(,:;-])",
    rf"(?:\b[A-Z][\w.]*[.,]?\s){_YEAR}{_DATE}[,:;]\s*(?=\d|[(])",
    rf"(?<=[\s,.:;]){_YEAR}[a-z]?\.?$",
    rf"(?:\.\s|,\s){_YEAR}[a-z]?[.,:]\s",
    rf"{_YEAR}(?![\d–-])",
)
_AT_ONCE = re.compile(rf"[\s.,:;]{{0,4}}(?:\((?:[^()\d]{{0,30}}\s)?)?{_YEAR}(?![\d–])[a-z]?(?:[^()]{{0,30}}\))?")
_NUMBERS = (
    rf"[;]\s*{_VOLUME}?\s*{_ISSUE}?\s*[:,]\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf"\b[Vv]ol(?:ume|\.)?\s?{_VOLUME}{_ISSUE}?,?\s*(?:(?:[Nn]o\.?|[Ii]ss(?:ue|\.)?)\s?(?P<issue2>[\w-]+))?[,:;.]?\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf"(?<=[\s,.]){_VOLUME}\s*\(\s+\)\s*[:,]?\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf",\s*{_ISSUE},\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf"(?<![\d(–-]){_VOLUME}{_ISSUE}\s*[:,.;]?\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf"(?<![\d(:–-]){_VOLUME}\s*:\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf"(?<=[\s,.a-z]){_VOLUME}\s*,\s*{_ARTICLE}{_PAGES}{_IMPRINT_END}",
    rf"[;]\s*{_VOLUME}{_ISSUE}?{_IMPRINT_END}",
    rf"(?<=[a-z.,]\s){_VOLUME}{_ISSUE}(?=[\s.,;]*(?:$|\())",
    r"(?:\bpp?\.\s?)" + _PAGES + _IMPRINT_END,
    rf"(?:(?<=[A-Za-z)]),|\(\s+\))\s*(?P<pages>(?:{_PAGE})\s*[-–—‐‑−]\s*(?:{_PAGE})|[A-Za-z]?\d{{4,}})[\s.,]*(?:\(\s*\))?[\s.,]*$",
    rf"(?<=[A-Za-z]\s){_VOLUME}[\s.,;]*(?=$|\((?:1[89]|20)\d\d\))",
)


@dataclass(frozen=True, slots=True)
class Imprint:
    """What was found, and where: `year_at` and `numbers_at` are spans in the text, (-1, -1) for none."""

    year: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    year_at: tuple[int, int] = (-1, -1)
    numbers_at: tuple[int, int] = (-1, -1)


def imprint_in(text: str, start: int) -> Imprint:
    """Find them behind `start`, where the authors end."""
    year = _AT_ONCE.match(text, start) or _year(text, start)
    without = f"{text[: year.start('year')]}    {text[year.end('year') :]}" if year else text
    matches = (list(re.compile(pattern).finditer(without, start)) for pattern in _NUMBERS)
    numbers = next((each[-1] for each in matches if each), None)
    found = numbers.groupdict() if numbers else {}
    issue = (found.get("issue") or found.get("issue2") or "").strip()
    bracket = text.rfind("(", year.start(), year.start("year")) if year else -1  # which opens before the year
    return Imprint(
        year=year["year"] if year else "",
        volume=(found.get("volume") or "").strip(),
        issue=issue if re.search(r"\d|[Ss]up", issue) else "",  # no month
        pages=(found.get("pages") or "").strip(" ."),
        year_at=(bracket if bracket >= 0 else year.start("year"), year.end()) if year else (-1, -1),
        numbers_at=numbers.span() if numbers else (-1, -1),
    )


def _year(text: str, start: int) -> re.Match[str] | None:
    """The match of the first pattern that has one: the last one of it, but the first of a year in brackets."""
    for place, pattern in enumerate(_YEARS):
        if found := list(re.compile(pattern).finditer(text, start)):
            return found[0] if place == 0 else found[-1]
    return None


_NUMBER = re.compile(r"^\s*(?:[\[(](\d{1,4}|[a-z])[\])]|(\d{1,4})[.)]\s|([a-z])\)\s)\s*")
_NOISE = re.compile(
    r"\[J\]|\[(?:PubMed|Google Scholar|CrossRef|PMC free article|Internet|Epub ahead of print|cited [^\]]*|In \w+)\]"
    r"|\bEpub\b\s(?:ahead of print|\d{4}[\w\s]{0,12})\.?|\beCollection\b[\w\s]{0,14}\.?|\(Article in \w+\)"
    r"|\b(?:online ahead of print|Advance online publication)\b\.?"
    r"|\bPublished\s(?:online\s)?(?:\d{4}\s)?[A-Z][a-z]{2,8}\.?\s\d{1,2}(?:,\s\d{4})?\.?",
    re.IGNORECASE,
)
_ACCESSED = re.compile(
    r"[.,;]?\s*\(?(?:Accessed|Available (?:at|from|online)|Retrieved from|Cited)\b.*$", re.IGNORECASE
)
_QUOTED = re.compile(r"[“\"]([^“”\"]{15,})[”\"],?")
_TITLE_FROM = 20  # characters behind a year in brackets that can be a title
_JOURNAL_WORDS = 8  # of a journal's name in lower case
_SENTENCE_END = re.compile(r"(?<=[^\s.])[.?!][\])”\"’']?\s+(?=[\"“\[(A-Z0-9À-Þα-ω])|\.\s+(?=[a-z]{2,12}\s?[A-Z])")
_SMALL = set("of the and in for on de la des du et der die und fur für e di del y da do a an to & - –".split())
_JOURNAL_AT_START = re.compile(
    r"^[A-Z](?:[\w&,:()' -]|\.(?!\s)){1,100}?\.?\s(?:1[89]\d\d|20\d\d)(?:\s[A-Z][a-z]{2})?[^;]{0,20};"
)
_BOOK = re.compile(
    r"\([Ee]ds?[.)\s]|\b(?:[Ii]n:?\s.{3,80}\([Ee]ds?\.|eds?\.,|University Press|Academic Press|Springer,|Elsevier,"
    r"|Wiley,|[Tt]hesis|[Dd]issertation|[Pp]roceedings of the \d|ISBN|(?:\d(?:st|nd|rd|th)) edn?\b"
    r"|[Tt]echnical [Rr]eport|[Pp]atent)",
)
_PREPRINT = re.compile(r"\b(?:bioRxiv|medRxiv|arXiv|Research Square|preprint)\b", re.IGNORECASE)
_EDGES = " .,;:-–—()[]\"“”'’*/"


def parse_citation(text: str, line: int = 0) -> CitedWork:
    """Read the fields of one reference. Whatever it does not show is ""."""
    text = " ".join(text.replace("\u00ad", "").split())[:LONGEST]
    numbered = _NUMBER.match(text)
    body = text[numbered.end() :] if numbered else text
    key = next(filter(None, numbered.groups()), "") if numbered else ""
    doi, pmid, pmcid, rest = ids_in(body)
    rest = " ".join(_ACCESSED.sub("", _NOISE.sub(" ", rest)).split())
    people = people_in(rest)
    if len(people.names) == 1 and not people.etal and _JOURNAL_AT_START.match(rest):
        people = People()  # it begins with a journal, as NLM's short form does
    imprint = imprint_in(rest, people.end)
    edited = _EDITORS.match(rest, people.end)
    title, journal = ("", "") if edited else _title_and_journal(rest, people, imprint)
    return work(
        title=title,
        authors=people.names,
        etal=people.etal,
        journal=journal,
        year=imprint.year,
        volume=imprint.volume,
        issue=imprint.issue,
        pages=imprint.pages,
        doi=doi,
        pmid=pmid,
        pmcid=pmcid,
        kind=_kind(rest, bool(doi or pmid or pmcid), imprint),
        text=body,
        key=key,
        line=line,
    )


def _title_and_journal(text: str, people: People, imprint: Imprint) -> tuple[str, str]:
    """What stands between the authors, or a year that follows them, and the imprint."""
    start = _after_date(text, people.end, imprint)
    least = start + (8 if people.end else 0)
    ends = [at for at, _ in (imprint.year_at, imprint.numbers_at) if at > least]
    return _split(text[start : min(ends, default=len(text))].strip(_EDGES[:-2]))


def _after_date(text: str, start: int, imprint: Imprint) -> int:
    """Where the year of `Doe J (2021) Title` ends: a year right behind the authors, or one in brackets before a title.
    Elsewhere it is the place where the authors end."""
    year_start, year_end = imprint.year_at
    if year_start < start:
        return start
    at_once = start > 0 and not re.search(r"[^\W\d_]", text[start:year_start])
    numbers = imprint.numbers_at[0] if imprint.numbers_at[0] > year_end else len(text)
    before_title = text[year_start] == "(" and numbers - year_end > _TITLE_FROM
    return year_end if at_once or before_title else start


def _split(body: str) -> tuple[str, str]:
    quoted = _QUOTED.match(body)
    if quoted:
        return quoted[1].strip(_EDGES), body[quoted.end() :].strip(_EDGES)
    cuts = [found.span() for found in _SENTENCE_END.finditer(body)]
    if not cuts:
        return _by_comma(body)
    place = len(cuts) - 1
    while place > 0 and _is_abbreviation(body[cuts[place - 1][1] : cuts[place][0]]):
        place -= 1
    end, begin = cuts[place]
    if place == 0 and _is_abbreviation(body[:end]) and _is_journal(body):
        return "", body.strip(_EDGES)
    if not (_is_journal(body[begin:]) or len(body[begin:].split()) <= _JOURNAL_WORDS):
        return body.strip(_EDGES), ""
    comma = body.rfind(", ", 0, end)
    if comma > 0 and _is_abbreviation(body[comma + 2 : end]) and len(body[comma + 2 : end].split()) == 1:
        end, begin = comma - 1, comma + 2
    return body[: end + 1].strip(_EDGES), body[begin:].strip(_EDGES)


def _by_comma(body: str) -> tuple[str, str]:
    if _is_journal(body):
        return "", body.strip(_EDGES)
    title, _, journal = body.rpartition(", ")
    if title and _is_journal(journal) and len(journal.split()) > 1:
        return title.strip(_EDGES), journal.strip(_EDGES)
    return body.strip(_EDGES), ""


def _is_abbreviation(text: str) -> bool:
    """One short word with a capital, as `Clin` or `J`, or two such as `Ann N Y`."""
    words = text.split()
    longest = 16 if len(words) == 1 else 8
    return 0 < len(words) <= 3 and all(len(word) <= longest and (word[0].isupper() or word in _SMALL) for word in words)


def _is_journal(text: str) -> bool:
    """Whether these words may be a journal's name: few of them, capitals but for small words."""
    bare = re.sub(r"\([^()]*\)", "", text)
    words = [word.strip(".,:;") for word in bare.split()]
    words = [word for word in words if word]
    large = [word for word in words if word[0].isupper() or word[0].isdigit() or word[1:] != word[1:].lower()]
    small = [word for word in words if word not in large]
    return 0 < len(words) <= 14 and bool(large) and all(word in _SMALL for word in small)


def _kind(text: str, has_id: bool, imprint: Imprint) -> Kind:
    if _PREPRINT.search(text):
        return "preprint"
    printed = (imprint.volume or imprint.pages) and not _BOOK.search(text)
    return "article" if has_id or printed else "other"


_NUMBERED = re.compile(r"^\s*(?:\[(\d{1,4})\]|\((\d{1,4})\)|(\d{1,4})[.)]|(\d{1,3})\s(?=[A-Z]))\s*\S")
HEADING = re.compile(
    r"^\W*(?:\d+\.?\s)?(?:(?:notes and )?references|bibliography|literature(?: cited)?|works cited|reference list)\W*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^\W*(?:\d+\.?\s)?(?:appendix|supplementary|figure legends|tables?|acknowledge?ments|funding|author contributions)"
    r"\b.{0,60}$",
    re.IGNORECASE,
)
_END = re.compile(r"(?:[.)\]]|\d|10\.\d{4}\S+|https?://\S+|PMC\d+)\s*$")
_BEGINS = re.compile(r"^\s*(?:[A-ZÀ-Þ][\w’'‐-]+,?\s[A-Z]|(?:van|von|de|der|la|le|al|el)\b)")
Line = tuple[int, str]


def read_plain(text: str) -> list[CitedWork]:
    """The references of a list: numbered, parted by empty lines, or a line each. Of a manuscript, those below its last
    heading "References". Raises `InvalidInput` for too many."""
    lines = _below_heading(list(enumerate(text.splitlines(), 1)))
    works = [parse_citation(each, line=number) for number, each in _references(lines)]
    works = [each for each in works if not each.is_empty or each.text]
    refuse_too_many(len(works))
    return works


def _below_heading(lines: list[Line]) -> list[Line]:
    """The lines after the last such heading and before the next part; all where there is none."""
    headings = [place for place, (_, line) in enumerate(lines) if HEADING.match(line)]
    rest = lines[headings[-1] + 1 :] if headings else lines
    ends = [place for place, (_, line) in enumerate(rest) if place > 2 and _AFTER.match(line)] if headings else []
    return rest[: ends[0]] if ends else rest


def _references(lines: list[Line]) -> Iterator[Line]:
    blocks = [list(block) for filled, block in groupby(lines, lambda line: bool(line[1].strip())) if filled]
    filled = [line for block in blocks for line in block]
    found = [_NUMBERED.match(line) for _, line in filled]
    if starts := _number_starts([int(next(filter(None, each.groups()))) if each else 0 for each in found]):
        return _joined(filled, starts)
    if len(blocks) > 1 and any(len(block) > 1 for block in blocks):
        return (each for block in blocks for each in _of_block(block))
    return _of_block(filled)


def _number_starts(numbers: list[int]) -> list[int]:
    """Places of lines with the next number of the list; another number at a line's beginning belongs to its text.

    None where the first line has no number, and where none of the others is the next one.
    """
    first, *others = numbers or [0]
    if not first or (any(others) and first + 1 not in others):
        return []
    starts, expected = [], first
    for place, number in enumerate(numbers):
        if expected <= number <= expected + 1:
            starts.append(place)
            expected = number + 1
    return starts


def _of_block(lines: list[Line]) -> Iterator[Line]:
    """A line each, unless lines are wrapped: then a reference ends where a line ends a sentence and a name follows."""
    ended = [place for place, (_, line) in enumerate(lines[:-1], 1) if _END.search(line)]
    if len(lines) - 1 - len(ended) <= (len(lines) - 1) / 4:
        return _joined(lines, range(len(lines)))
    return _joined(lines, [0, *(place for place in ended if _BEGINS.match(lines[place][1]))])


def _joined(lines: list[Line], starts: Iterable[int]) -> Iterator[Line]:
    for start, end in pairwise([*starts, len(lines)]):
        yield lines[start][0], _unbroken([line.strip() for _, line in lines[start:end]])


def _unbroken(lines: list[str]) -> str:
    """The lines as one; a DOI or address that a line's end parts is whole again."""
    text = lines[0]
    for line in lines[1:]:
        broken = re.search(r"(?:https?://|10\.\d{4,9}/)\S*[/._-]$", text) and not re.match(r"[A-Z][a-z]+\b", line)
        text += line if broken else f" {line}"
    return text

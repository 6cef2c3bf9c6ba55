"""A reference in plain text, of any style, to its fields.

The authors are those that it begins with. What stands between them and the year, or the numbers of volume and pages, is
the title and the journal, parted at the last sentence end after which a journal's name can follow.
"""

import re

from bio_mcp.literature.references.found_ids import FoundIds, ids_in
from bio_mcp.literature.references.imprints import Imprint, imprint_in
from bio_mcp.literature.references.people import People, editors_follow, people_in
from bio_mcp.literature.references.works import LONGEST, CitedWork, Kind, work

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


def parse_citation(text: str, *, key: str = "", line: int = 0) -> CitedWork:
    """Read the fields of one reference. Whatever it does not show is ""."""
    text = " ".join(text.replace("\u00ad", "").split())[:LONGEST]
    numbered = _NUMBER.match(text)
    body = text[numbered.end() :] if numbered else text
    key = key or next(filter(None, numbered.groups()), "") if numbered else key
    found = ids_in(body)
    rest = " ".join(_ACCESSED.sub("", _NOISE.sub(" ", found.rest)).split())
    people = _people(rest)
    imprint = imprint_in(rest, people.end)
    title, journal = _title_and_journal(rest, people, imprint)
    return work(
        title=title,
        authors=people.names,
        etal=people.etal,
        journal=journal,
        year=imprint.year,
        volume=imprint.volume,
        issue=imprint.issue,
        pages=imprint.pages,
        doi=found.doi,
        pmid=found.pmid,
        pmcid=found.pmcid,
        kind=_kind(rest, found, imprint),
        text=body,
        key=key,
        line=line,
    )


def _people(text: str) -> People:
    """The authors; none where the reference begins with a journal, as NLM's short form does."""
    people = people_in(text)
    return People() if len(people.names) == 1 and not people.etal and _JOURNAL_AT_START.match(text) else people


def _title_and_journal(text: str, people: People, imprint: Imprint) -> tuple[str, str]:
    """What stands between the authors, or a year that follows them, and the imprint."""
    if editors_follow(text, people.end):
        return "", ""
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
    """Title and journal."""
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
    """`Title, Journal` or one of the two."""
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


def _kind(text: str, found: FoundIds, imprint: Imprint) -> Kind:
    if _PREPRINT.search(text):
        return "preprint"
    if found.pmid or found.pmcid or found.doi:
        return "article"
    if _BOOK.search(text):
        return "other"
    return "article" if imprint.volume or imprint.pages else "other"

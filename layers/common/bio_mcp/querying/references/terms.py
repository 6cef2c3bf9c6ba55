"""How NCBI is asked for a reference."""

import re

from bio_mcp.literature.references.words import SMALL, folded
from bio_mcp.literature.references.works import CitedWork
from bio_mcp.ports.ncbi import Citation

WORDS = 8  # of a title, the longest
_FEW = 4
_PLAIN = re.compile(r"[a-z]{3,}")
_BARE = re.compile(r"[\w.&' -]+")


def citation_of(work: CitedWork) -> Citation | None:
    """The imprint as NCBI's matcher takes it; None with less than journal, and volume or page.

    The author is left out where volume and page say enough, so that a wrong author does not hide the paper.
    """
    page = first_page(work)
    if not work.journal or not (work.volume or page) or sum(map(bool, (work.year, work.volume, page))) < 2:
        return None
    author = "" if work.volume and page else _author(work)
    return Citation(*(_field(each) for each in (work.journal, work.year, work.volume, page, author)))


def first_page(work: CitedWork) -> str:
    """The first page, or the article number."""
    return re.split(r"\s*[-–—‐‑−,;]", work.pages)[0].strip()


def title_term(work: CitedWork) -> str:
    """A PubMed query of the longest words of the title; "" for a title of less than two."""
    words = _title_words(work)
    return " AND ".join(f"{word}[ti]" for word in words) if len(words) > 1 else ""


def field_term(work: CitedWork) -> str:
    """A PubMed query for a paper whose title has an error: author, year and either of two pairs of words; or else of
    the imprint. "" where too little is stated."""
    author, words = _author(work), sorted(_title_words(work), key=len, reverse=True)[:_FEW]
    if author and work.year and words:
        return f"{author}[au] AND {work.year}[dp] AND ({_either_pair(words)})"
    return _imprint_term(work, author)


def _either_pair(words: list[str]) -> str:
    pairs = [" AND ".join(f"{word}[ti]" for word in words[start::2]) for start in (0, 1) if words[start::2]]
    return " OR ".join(f"({each})" for each in pairs)


def _imprint_term(work: CitedWork, author: str) -> str:
    page = first_page(work)
    parts = ((work.journal, "ta"), (work.year, "dp"), (work.volume, "vi"), (page, "pg"), (author, "au"))
    known = [f"{_field(text)}[{tag}]" for text, tag in parts if _field(text)]
    return " AND ".join(known) if len(known) > 2 and page else ""


def _title_words(work: CitedWork) -> list[str]:
    """The longest plain words of the title, in their order; numbers, Greek and symbols are indexed in many ways."""
    spaced = re.sub(r"[^\w\s]", " ", work.title)
    words = [word for word in dict.fromkeys(folded(spaced).split()) if _PLAIN.fullmatch(word) and word not in SMALL]
    longest = sorted(words, key=lambda word: (-len(word), word))[:WORDS]
    return [word for word in words if word in longest]


def _author(work: CitedWork) -> str:
    """`mann b`; the family name alone where initials are not known."""
    name = work.authors[0] if work.authors else ""
    given = name.partition(",")[2].strip()
    if " " not in name:
        return _surname(work)
    initials = given[:1] if given else "".join(re.findall(r"\b[A-Z]{1,3}\b", name.replace(".", " ")))[:1]
    return " ".join(filter(None, (_surname(work), initials.casefold())))


def _surname(work: CitedWork) -> str:
    if not work.authors:
        return ""
    name = work.authors[0]
    if "," in name:
        return _words(name.partition(",")[0])
    parts = [
        part for part in name.split() if len(part.strip(".")) > 1 and not re.fullmatch(r"(?:[A-Z]\.?-?){1,4}", part)
    ]
    return _words(" ".join(parts) if parts else name)


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*", folded(text)))[:60]


def _field(text: str) -> str:
    return " ".join(re.findall(r"[\w.&-]+", re.sub(r"\([^()]*\)", " ", text)))[:200]

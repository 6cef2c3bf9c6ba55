"""BibTeX: one entry that pdfLaTeX, XeLaTeX, biber and reference managers read alike."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from bio_mcp.literature.citing import dates, pages
from bio_mcp.literature.citing.latex import latex
from bio_mcp.literature.citing.names import Name
from bio_mcp.literature.citing.notices import notes
from bio_mcp.literature.citing.titles import headline
from bio_mcp.literature.citing.works import Work
from bio_mcp.literature.records import MONTHS

_TYPES = {"article-journal": "article", "article": "article", "chapter": "incollection", "book": "book"}
_WORD = re.compile(r"[^\s{}\\$]+")
_LETTERS = str.maketrans({"ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ß": "ss", "ł": "l", "Ł": "L", "đ": "d",
                          "Đ": "D", "ı": "i", "þ": "th", "Þ": "Th", "ð": "d", "œ": "oe", "Œ": "Oe"})  # fmt: skip


def render(work: Work, more: Iterable[tuple[str, str]] = ()) -> str:
    """Render `@article{Horby2021_33933206, ...}`; see `key` for the citation key.

    `more` are names and values, as LaTeX, of fields that a citation does not have.
    """
    extended = [*_fields(work), *((name, _in_braces(value)) for name, value in more)]
    fields = "".join(f"  {name} = {value},\n" for name, value in extended if value)
    return f"@{_TYPES[work.kind]}{{{key(work)},\n{fields}}}\n"


def key(work: Work) -> str:
    """The citation key in ASCII: first author's family name, year, `_`, PMID.

    The PMID, or a hash where there is none, makes it unique. It stays the same when a record is revised.
    """
    first = work.authors[0] if work.authors else Name(literal="Anonymous")
    family = first.family or (first.literal.split() or ["Anonymous"])[0]
    ascii_only = unicodedata.normalize("NFKD", family.translate(_LETTERS)).encode("ascii", "ignore").decode()
    year = str(work.issued.year) if work.issued and work.issued.year else ""
    return f"{re.sub(r'[^A-Za-z0-9]', '', ascii_only)}{year}_{work.identifier.removeprefix('pmid:')}"


def _fields(work: Work) -> Iterator[tuple[str, str]]:
    """Yield the fields in the order in which they are printed; empty ones are dropped by `render`."""
    article = work.article
    yield "author", _in_braces(_people(work.authors, article.authors_complete))
    yield "editor", _in_braces(_people(work.editors))
    yield "title", _in_braces(_brace_capitals(work.title))
    yield from _book(work) if article.book else _journal(work)
    yield "year", _in_braces(dates.year(work.issued).replace("-", "--"))
    yield "month", MONTHS[work.issued.month - 1].lower() if work.issued and work.issued.month else ""
    yield "pages", _in_braces(latex(work.number or pages.full(work.page, "--")))
    yield "doi", _in_braces(_verbatim(article.doi or ""))
    yield "url", _in_braces(work.url)
    yield "language", _in_braces(work.printed_languages)
    yield "note", _in_braces(latex(" ".join((["Preprint."] if work.preprint else []) + notes(work))))
    yield "pmid", _in_braces(article.pmid)
    yield "pmcid", _in_braces(article.pmcid or "")


def _journal(work: Work) -> Iterator[tuple[str, str]]:
    journal = work.article.journal
    yield "journal", _in_braces(latex(work.container))
    yield "shortjournal", _in_braces(latex(work.abbreviation))
    if journal:
        yield "volume", _in_braces(latex(work.volume))
        yield "number", _in_braces(latex(work.issue))
        yield "issn", _in_braces(journal.issn or journal.issn_l or "")


def _book(work: Work) -> Iterator[tuple[str, str]]:
    book = work.article.book
    yield "booktitle", _in_braces(_brace_capitals(work.container))
    if book:
        yield "publisher", _in_braces(latex(book.publisher or ""))
        yield "address", _in_braces(latex(book.place or ""))
        yield "edition", _in_braces(latex(book.edition or ""))
        yield "isbn", _in_braces(" ".join(book.isbn))


def _people(listed: tuple[Name, ...], complete: bool = True) -> str:
    people = [_person(name) for name in listed]
    return " and ".join(people if complete else [*people, "others"])


def _person(name: Name) -> str:
    """`von Last, Jr., First`; a group, or a part with "and" or a comma, in braces, so BibTeX reads one name."""
    if name.literal:
        return f"{{{latex(name.literal)}}}"
    return ", ".join(_part(latex(each)) for each in (name.family, name.suffix, name.given) if each)


def _part(text: str) -> str:
    return f"{{{text}}}" if re.search(r"(?:^|\s)and(?:\s|$)|,", text, re.IGNORECASE) else text


def _brace_capitals(title: str) -> str:
    """The title in LaTeX, with braces around words whose capitals a bibliography style must not lower."""
    loose = headline(title)
    return " ".join(_brace_word(word, ordinary=loose or i == 0) for i, word in enumerate(title.split()))


def _brace_word(word: str, ordinary: bool) -> str:
    """One word, in braces if its capitals must stay.

    `ordinary`: a capital at the start belongs to the title's case, so only capitals further on count.
    """
    letters = word.lstrip("[(\"'“‘")
    capital = (
        any(part[1:] != part[1:].lower() for part in letters.split("-")) if ordinary else letters != letters.lower()
    )
    text = latex(word)
    return f"{{{text}}}" if capital else text


def _verbatim(text: str) -> str:
    """A DOI for the `doi` field, which LaTeX reads verbatim: a percent sign is escaped, and braces are encoded, as
    BibTeX counts those that are escaped too."""
    return text.replace("%", "\\%").replace("{", "\\%7B").replace("}", "\\%7D")


def _in_braces(text: str) -> str:
    return f"{{{text}}}" if text else ""

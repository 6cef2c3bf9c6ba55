"""The work that every citation style starts from: an article in CSL's variables."""

import re
from dataclasses import dataclass
from hashlib import sha256

from bio_mcp.literature.addresses import doi_page, pubmed_page
from bio_mcp.literature.citing import dates, pages
from bio_mcp.literature.citing.languages import english, tag
from bio_mcp.literature.citing.names import Name, names
from bio_mcp.literature.citing.titles import journal_title
from bio_mcp.literature.records import Article, PartialDate, RetractionStatus

_BOOKSHELF = "https://www.ncbi.nlm.nih.gov/books/{}/"
_PREPRINT = ("D000076942", "Preprint")
_NOT_YET = re.compile(r"pp|(?:publish|online|epub)?[ -]?ahead[ -]of[ -](?:print|pub\w*)", re.IGNORECASE)
_MARKED = re.compile(r"^\W*(?:retracted|withdrawn)\b", re.IGNORECASE)
_TRANSLATOR = re.compile(r"\s*\(author's transl\)(?=\]?$)")
_UNPRINTED_LANGUAGES = ("eng", "und", "mul")


@dataclass(frozen=True, slots=True)
class Work:
    """A work to cite. `kind` is a CSL type. `title` has no final point, but PubMed's brackets around a translation.

    `container` is the journal without NLM's qualifiers ("Lancet (London, England)" -> "Lancet") or the book;
    `abbreviation` is NLM's. `number` is an article number, `page` the printed pages; at most one of them is set.
    """

    article: Article
    kind: str
    title: str
    authors: tuple[Name, ...]
    editors: tuple[Name, ...]
    container: str
    abbreviation: str
    issued: PartialDate | None
    electronic: PartialDate | None
    page: str
    number: str
    url: str
    volume: str = ""
    issue: str = ""

    @property
    def identifier(self) -> str:
        """What tells the work from others: `pmid:1`, or a hash of DOI and title where PubMed does not have it."""
        if self.article.pmid:
            return f"pmid:{self.article.pmid}"
        return sha256(f"{self.article.doi} {self.title}".encode()).hexdigest()[:12]

    @property
    def preprint(self) -> bool:
        """Whether the work is a preprint; CSL calls that type "article"."""
        return self.kind == "article"

    @property
    def translated(self) -> bool:
        """Whether the title is PubMed's English translation, which it prints in square brackets."""
        return self.title.startswith("[") and self.title.endswith("]")

    @property
    def title_proper(self) -> str:
        """The title without NLM's "(author's transl)", which only NLM's own style prints."""
        return _TRANSLATOR.sub("", self.title)

    @property
    def original_title(self) -> str:
        """The title in its own language, where the record has it beside the translation; else ""."""
        vernacular = plain_title(self.article.vernacular_title)
        return vernacular if vernacular != self.title else ""

    @property
    def ahead_of_print(self) -> bool:
        """Whether the article is online and has no volume or issue yet."""
        return self.article.publication_status == "aheadofprint" and not (self.volume or self.issue)

    @property
    def retracted(self) -> bool:
        """Whether PubMed lists the work as retracted."""
        return self.article.retraction is RetractionStatus.RETRACTED

    @property
    def says_so_itself(self) -> bool:
        """Whether the title already begins with "RETRACTED:"."""
        return bool(_MARKED.match(self.title))

    @property
    def in_english(self) -> bool:
        """Whether the title is English, so that its case may change: English papers and PubMed's translations."""
        return self.translated or "eng" in self.article.languages or not self.printed_languages

    @property
    def described(self) -> str:
        """A name for a work without a title: `Published erratum`, `Letter`, `Article`."""
        kinds = [kind.name for kind in self.article.publication_types if kind.name != "Journal Article"]
        return kinds[0].capitalize() if kinds else "Article"

    @property
    def edition(self) -> str:
        """`2nd ed.`; "" where the record names none."""
        edition = (self.article.book and self.article.book.edition) or ""
        return edition if not edition or "ed" in edition.lower() else f"{edition} ed."

    @property
    def doi_url(self) -> str:
        """`https://doi.org/...`; "" without a DOI."""
        return doi_page(self.article.doi) if self.article.doi else ""

    @property
    def language(self) -> str:
        """BCP 47 tag: `de`; "" where PubMed does not know."""
        return next(filter(None, map(tag, self.article.languages)), "")

    @property
    def printed_languages(self) -> str:
        """`German`, `Danish, English`: the languages that NLM prints, which is none when English is the only one."""
        if set(self.article.languages) <= set(_UNPRINTED_LANGUAGES):
            return ""
        return ", ".join(filter(None, map(english, self.article.languages)))


def work(article: Article) -> Work:
    """The article as a work to cite. Variables that the record does not have are empty."""
    return _book(article) if article.book else _paper(article)


def plain_title(title: str | None) -> str:
    """The title without its final point. A question mark, an exclamation mark and an ellipsis belong to the title."""
    text = (title or "").strip()
    if text.endswith(".]"):
        text = text[:-2] + "]"
    if text.endswith("]") and "[" not in text:
        text = text[:-1]
    return text if text.endswith("...") else text.removesuffix(".").rstrip()


def _paper(article: Article) -> Work:
    """An article of a journal, or a preprint. An article number and pages exclude each other."""
    journal = article.journal
    preprint = any(kind.ui == _PREPRINT[0] or kind.name == _PREPRINT[1] for kind in article.publication_types)
    electronic = preprint or (article.publication_model or "").startswith("Electronic")
    number = pages.article_number(article.pages, electronic)
    abbreviation = journal and (journal.medline_abbreviation or (journal.iso_abbreviation or "").replace(".", ""))
    container = journal_title(journal.title) if journal and journal.title else ""
    return Work(
        article=article,
        kind="article" if preprint else "article-journal",
        title=plain_title(article.title),
        authors=names(article.authors),
        editors=(),
        container=container or abbreviation or "",
        abbreviation=abbreviation or container,
        issued=_issued(article),
        electronic=article.electronic_date,
        page="" if number else (article.pages or "").strip(),
        number=number or "",
        url=_page(article),
        volume=_number_or_empty(journal.volume if journal else None),
        issue=_number_or_empty(journal.issue if journal else None),
    )


def _page(article: Article) -> str:
    """The page of the record: PubMed's, or its DOI's where PubMed has none."""
    if article.pmid:
        return pubmed_page(article.pmid)
    return doi_page(article.doi) if article.doi else ""


def _number_or_empty(number: str | None) -> str:
    """A volume or an issue; "" for a publisher's word for having none yet (`PP`, `ahead-of-print`)."""
    return "" if not number or _NOT_YET.fullmatch(number) else number


def _book(article: Article) -> Work:
    """A book, or a chapter of one when the book has another title."""
    book = article.book
    assert book is not None  # noqa: S101  # the caller looked
    title = plain_title(article.title)
    container = plain_title(book.title)
    whole = not container or title == container
    return Work(
        article=article,
        kind="book" if whole else "chapter",
        title=title,
        authors=names(article.authors),
        editors=names(book.editors),
        container="" if whole else container,
        abbreviation="" if whole else container,
        issued=book.contribution_date or article.publication_date,
        electronic=None,
        page=(article.pages or "").strip(),
        number="",
        url=_BOOKSHELF.format(book.accession) if book.accession else _page(article),
    )


def _issued(article: Article) -> PartialDate | None:
    """The date to cite: the issue's, or the day online when the article is collected later in the same year."""
    printed, electronic = article.publication_date, article.electronic_date
    collected = article.publication_model in ("Electronic-eCollection", "Electronic-Print")
    if electronic and (printed is None or (collected and dates.year(printed) == dates.year(electronic))):
        return electronic
    return printed

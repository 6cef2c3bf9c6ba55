"""The work that every citation style starts from: an article in CSL's variables, with its names, title and notices."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from bio_mcp.literature.citing.imprint import article_number, full_pages, printed_year
from bio_mcp.literature.identifiers import doi_page, pubmed_page
from bio_mcp.literature.languages import MARC
from bio_mcp.literature.notices import CORRECTIONS
from bio_mcp.literature.records import Article, Author, Book, Correction, Journal, PartialDate, RetractionStatus

# NLM writes the ranks as ordinals; APA and MLA as Roman numerals.
_ROMAN = {"1st": "I", "2nd": "II", "3rd": "III", "4th": "IV", "5th": "V", "6th": "VI"}
_ORDINAL = {roman: ordinal for ordinal, roman in _ROMAN.items()}
_RANKS = _ROMAN | {"jr": "Jr.", "sr": "Sr."}
_NAME_PART = re.compile(r"[^\s-]+")


@dataclass(frozen=True, slots=True)
class Name:
    """A person (`family`, `given`, `initials` without points, `suffix` as "Jr." or "III") or a group (`literal`)."""

    family: str = ""
    given: str = ""
    initials: str = ""
    suffix: str = ""
    literal: str = ""


def names(authors: Iterable[Author]) -> tuple[Name, ...]:
    """Convert the record's authors, without the misspelt entries that NLM replaced (`valid` False).

    When every family name is in capitals, as in records typed before 1966, all are set in normal case.
    """
    listed = list(authors)
    people = tuple(filter(None, map(_name, [author for author in listed if author.valid] or listed)))
    capitals = all(name.family.isupper() or name.literal for name in people)
    if not capitals:
        return people
    # `PHILLIPS` -> `Phillips`. Up to three letters stay, since they may be the name's own form.
    return tuple(replace(name, family=name.family.title()) if len(name.family) > 3 else name for name in people)


def inverted_name(name: Name, given: str | None = None) -> str:
    """`Tranebjærg, Lisbeth M., Jr.`: MLA's first author and RIS's form; with `pointed` as `given` APA's authors."""
    parts = (name.family, name.given if given is None else given, name.suffix)
    return name.literal or ", ".join(filter(None, parts))


def straight_name(name: Name, given: str | None = None) -> str:
    """`Lisbeth M. Tranebjærg Jr.`: MLA's further authors; with `pointed` as `given` APA's editors."""
    parts = (name.given if given is None else given, name.family, name.suffix)
    return name.literal or " ".join(filter(None, parts))


def nlm_name(name: Name) -> str:
    """`Tranebjærg LM Jr`, with ranks as 2nd and 3rd: NLM's and Vancouver's form."""
    suffix = _ORDINAL.get(name.suffix, name.suffix.rstrip("."))
    return name.literal or " ".join(filter(None, (name.family, name.initials, suffix)))


def pointed(name: Name) -> str:
    """Initials with points: `J.-P.` for Jean-Pierre, but `J.` for Jin-woo, whose second part is lower case.

    Lower-case particles inside a given name stay words (`M. de L.`). Scripts without capitals are written in full.
    """
    words = []
    for word in name.given.split():
        parts = [part for part in word.split("-") if part]
        initials = [_initial(part) for i, part in enumerate(parts) if i == 0 or part[0].isupper()]
        words.append(word if word.islower() and len(word) > 1 else "-".join(initials))
    return " ".join(filter(None, words))


def _initial(part: str) -> str:
    """The first letter with a point; a script without capitals stays whole, since its first character is no initial."""
    letters = part.lstrip("'’‘.(")
    if letters[:1].upper() == letters[:1].lower():
        return letters
    return f"{letters[0].upper()}."


def _name(author: Author) -> Name | None:
    """The name of an author; a group has a literal name, and so has a person without a family name."""
    if author.collective_name and not author.last_name:
        return Name(literal=author.collective_name.rstrip(" .;,"))
    if not author.last_name:
        return Name(literal=author.fore_name) if author.fore_name else None
    initials = author.initials or ""
    given = author.fore_name or initials
    if given.isalpha() and given.isupper() and len(given) <= 4 and (not author.fore_name or given == initials):
        given = " ".join(given)  # run-together initials: `JQ` -> `J. Q.`
    given = _NAME_PART.sub(lambda part: f"{part[0]}." if len(part[0]) == 1 and part[0].isupper() else part[0], given)
    suffix = (author.suffix or "").strip().rstrip(".")
    return Name(author.last_name, given, initials, _RANKS.get(suffix.lower(), suffix))


SMALL = frozenset(
    "a an the and but or nor for so yet as at by in into of off on onto out over per to up upon via with within "
    "without about above across after against along amid among around before behind below beneath beside besides "
    "between beyond concerning despite down during except from inside like near outside past regarding round since "
    "through throughout till toward towards under underneath until versus vs vs.".split()
)
LATIN = frozenset(
    "vitro vivo situ silico utero vacuo ovo novo facto priori posteriori sensu stricto lato et al de del della der "
    "des di du la le les van von und spp sp ssp var subsp".split()
)
UNITS = frozenset("mg kg g ml dl l mm cm nm km h min ms hz khz mhz ng pg mol mmol kda bp kb mb".split())
FOREIGN = frozenset(
    "de der die das und für fur des du la le les el los las del della delle di e et y i za zu zur im och og za w na "
    "zasshi zhi zhonghua xue yi nihon nippon tidsskrift for revista revue rivista zeitschrift zentralblatt"
    " archiv annali arquivos anales orvosi hetilap voprosy zhurnal vestnik lege casopis lijecnicki ugeskrift "
    "lakartidningen nederlands tijdschrift voor magy ter pflege medecine clinique experimentale".split()
)
ENGLISH = frozenset(
    "the of and journal medicine medical science sciences research review reviews reports letters annals proceedings "
    "international american british european health clinical".split()
)

_WORD = re.compile(r"[^\s\-–—/]+")
_STARTS = re.compile(r"(?:(?<=[:?!.] )|(?<=— )|^)(?P<open>[\[\"'“‘(¿¡]*)(?P<word>[^\s\[\"'“‘(]+)")
_QUALIFIER = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)$")
_CUT = re.compile(r"\s+[:=]\s+|\s*;\s|\s\[")
_PLOS = re.compile(r"\bPloS\b")  # NLM's catalogue has it so
_EPITHET = re.compile(r"[a-z]{3,}(?:i|ii|ae|us|um|is|ensis|ans|ens|a|ides|oides|or|ix|es)")
_GENUS = re.compile(r"[A-Z](?:[a-z]+(?:us|a|um|is|es|er|ax|ix|on|ma|as|os|ys|ella|ia|ium|ces)|\.)")
_NO_EPITHET = re.compile(
    r"(?:virus|status|focus|fetus|sinus|thymus|uterus|humerus|serum|data|area|trauma|coma|edema|asthma|media|criteria|"
    r"bacteria|analysis|basis|axis|pelvis|crisis|patients|genes|types|species|disease|diseases|studies|cases|plasma|"
    r"cells|strains|isolates|phenomena|receptor|factor|tumor|inhibitor|donor|survivors|via|extra|infra|"
    r".*(?:itis|osis|emia|oma|asis|ysis|esis|ensis es|opathia|uria|plegia|ectasia|ias|ies|lines|tides|tics|ors))"
)


def with_full_stop(text: str) -> str:
    """`text` with a full stop, unless it already ends a sentence."""
    bare = text.rstrip("]”\"')")
    return text if not text or bare.endswith((".", "?", "!", "…")) else f"{text}."


def sentence_case(title: str) -> str:
    """APA's sentence case: a capital at the start and after a colon; every other letter stays as PubMed has it."""
    return _STARTS.sub(lambda match: match["open"] + _capital(match["word"]), title)


def headline(title: str) -> bool:
    """Whether the title is already printed in title case: over 60 % of its longer words begin with a capital."""
    words = [word.strip("[]()\"'“”‘’,;:.?!") for word in title.split()[1:]]
    long = [word for word in words if len(word) > 3 and (word.islower() or word.istitle())]
    return len(long) > 2 and sum(map(str.istitle, long)) > 0.6 * len(long)


def title_case(title: str) -> str:
    """MLA's title case: principal words begin with a capital; articles, conjunctions, prepositions and `to` do not."""
    words = list(_WORD.finditer(title))
    starts = {match.start("word") for match in _STARTS.finditer(title)}
    lowered = SMALL - {"a"} if headline(title) else frozenset()
    pieces, at = [], 0
    for i, match in enumerate(words):
        first_or_last = i in (0, len(words) - 1) or any(match.start() <= start < match.end() for start in starts)
        before = words[i - 1][0] if i else ""
        pieces += [title[at : match.start()], _title_case_word(match[0], before, first_or_last, lowered)]
        at = match.end()
    return "".join([*pieces, title[at:]])


def journal_title(title: str) -> str:
    """NLM's catalogue title as it is cited: `Lancet (London, England)` -> `Lancet`.

    Subtitles and titles in a second language are dropped. English titles get title case; others keep NLM's case.
    """
    bare = _CUT.split(_QUALIFIER.sub("", title.strip().rstrip(".")), maxsplit=1)[0] or title
    first, point, second = bare.partition(". ")
    if point and _foreign(second) and not _foreign(first):
        bare = first
    bare = _PLOS.sub("PLoS", bare)
    return bare if _foreign(bare) else title_case(bare)


def _foreign(title: str) -> bool:
    words = {word.strip(",.&()").lower() for word in title.split()}
    return bool(words & FOREIGN) and not words & ENGLISH


def _title_case_word(word: str, before: str, first_or_last: bool, lowered: frozenset[str]) -> str:
    """One word in title case: small words stay lower case inside, units and Latin binomials everywhere.

    `lowered`: words that the printed title capitalises and MLA does not; they are lowered.
    """
    bare = word.strip("()[]{}\"'“”‘’,;:.?!").lower()
    if not first_or_last and bare in lowered and word == bare.capitalize():
        return bare
    if bare in UNITS or (not first_or_last and (bare in SMALL or bare in LATIN)):
        return word
    if _EPITHET.fullmatch(word.rstrip(",;:.?!)]")) and _GENUS.fullmatch(before) and not _NO_EPITHET.fullmatch(bare):
        return word
    return _capital(word)


def _capital(word: str) -> str:
    """Capitalise a word that is plain lower case: `mRNA`, `p53`, `pH` and `α-` stay."""
    match = re.match(r"[^\w]*([a-zà-öø-ÿ])", word)
    core = word[match.end() - 1 :] if match else ""
    letters = re.split(r"[-–/]", core)[0].rstrip("()[]\"'“”‘’,;:.?!")
    plain = re.fullmatch(r"[^\W\d_A-Z]+(?:['’][a-z]+)?", letters) and (len(letters) > 1 or letters in "aeix")
    if not match or not plain or letters != letters.lower():
        return word
    at = match.end() - 1
    return word[:at] + word[at].upper() + word[at + 1 :]


_BOOKSHELF = "https://www.ncbi.nlm.nih.gov/books/{}/"
_PREPRINT = ("D000076942", "Preprint")
_NOT_YET = re.compile(r"pp|(?:publish|online|epub)?[ -]?ahead[ -]of[ -](?:print|pub\w*)", re.IGNORECASE)
_MARKED = re.compile(r"^\W*(?:retracted|withdrawn)\b", re.IGNORECASE)
_TRANSLATOR = re.compile(r"\s*\(author's transl\)(?=\]?$)")
_UNPRINTED_LANGUAGES = ("eng", "und", "mul")


class Work:
    """An article as a work to cite, in CSL's variables; "" for what its record does not have.

    `title` has no final point, but PubMed's brackets around a translation. `container` is the journal without NLM's
    qualifiers ("Lancet (London, England)" -> "Lancet") or the book; `abbreviation` is NLM's. `number` is an article
    number, `page` the printed pages; at most one of them is set.
    """

    def __init__(self, article: Article) -> None:
        self.article = article
        self.title = plain_title(article.title)
        self.title_proper = _TRANSLATOR.sub("", self.title)  # without what only NLM's own style prints
        vernacular = plain_title(article.vernacular_title)
        self.original_title = vernacular if vernacular != self.title else ""  # beside PubMed's translation
        self.translated = self.title.startswith("[") and self.title.endswith("]")
        self.says_so_itself = bool(_MARKED.match(self.title))  # begins with "RETRACTED:"
        self.retracted = article.retraction is RetractionStatus.RETRACTED
        self.authors = names(article.authors)
        self.doi_url = doi_page(article.doi) if article.doi else ""
        self.url = pubmed_page(article.pmid) if article.pmid else self.doi_url
        languages = [MARC[code] for code in article.languages if code in MARC]
        self.language = languages[0][1] if languages else ""  # BCP 47
        only_english = set(article.languages) <= set(_UNPRINTED_LANGUAGES)
        # `German`, `Danish, English`: the languages that NLM prints, which is none when English is the only one.
        self.printed_languages = "" if only_english else ", ".join(name for name, _ in languages)
        # Whether the title's case may change: English papers and PubMed's translations.
        self.in_english = self.translated or "eng" in article.languages or not self.printed_languages
        self.editors: tuple[Name, ...] = ()
        self.volume = self.issue = self.issn = self.number = ""
        self.publisher = self.place = self.edition = self.printed_edition = self.journal = ""
        self.isbn: tuple[str, ...] = ()
        self.electronic: PartialDate | None = None
        self.preprint = self.ahead_of_print = False
        self.page = (article.pages or "").strip()
        if article.book:
            self._read_book(article.book)
        else:
            self._read_journal(article.journal or Journal())

    def _read_journal(self, journal: Journal) -> None:
        article = self.article
        self.preprint = any(kind.ui == _PREPRINT[0] or kind.name == _PREPRINT[1] for kind in article.publication_types)
        self.kind = "article" if self.preprint else "article-journal"  # CSL calls a preprint so
        electronic = self.preprint or (article.publication_model or "").startswith("Electronic")
        self.number = article_number(article.pages, electronic) or ""
        self.page = "" if self.number else self.page
        short = journal.medline_abbreviation or (journal.iso_abbreviation or "").replace(".", "")
        self.container = journal_title(journal.title) if journal.title else short
        self.abbreviation = short or self.container
        self.journal = self.container
        # A publisher's word for having none yet (`PP`, `ahead-of-print`) is no volume and no issue.
        self.volume, self.issue = (
            "" if not each or _NOT_YET.fullmatch(each) else each for each in (journal.volume, journal.issue)
        )
        self.issn = journal.issn or journal.issn_l or ""
        self.electronic = article.electronic_date
        self.ahead_of_print = article.publication_status == "aheadofprint" and not (self.volume or self.issue)
        # The issue's date, or the day online when the article is collected later in the same year.
        printed, online = article.publication_date, article.electronic_date
        collected = article.publication_model in ("Electronic-eCollection", "Electronic-Print")
        first = online and (printed is None or (collected and printed_year(printed) == printed_year(online)))
        self.issued = online if first else printed

    def _read_book(self, book: Book) -> None:
        """A book, or a chapter of one when the book has another title."""
        container = plain_title(book.title)
        whole = not container or self.title == container
        self.kind = "book" if whole else "chapter"
        self.container = self.abbreviation = "" if whole else container
        self.editors = names(book.editors)
        self.issued = book.contribution_date or self.article.publication_date
        self.url = _BOOKSHELF.format(book.accession) if book.accession else self.url
        self.publisher, self.place, self.isbn = book.publisher or "", book.place or "", book.isbn
        self.edition = edition = book.edition or ""
        self.printed_edition = edition if not edition or "ed" in edition.lower() else f"{edition} ed."  # `2nd ed.`

    @property
    def identifier(self) -> str:
        """What tells the work from others: `pmid:1`, or a hash of DOI and title where PubMed does not have it."""
        if self.article.pmid:
            return f"pmid:{self.article.pmid}"
        return sha256(f"{self.article.doi} {self.title}".encode()).hexdigest()[:12]

    @property
    def described(self) -> str:
        """A name for a work without a title: `Published erratum`, `Letter`, `Article`."""
        kinds = [kind.name for kind in self.article.publication_types if kind.name != "Journal Article"]
        return kinds[0].capitalize() if kinds else "Article"


def plain_title(title: str | None) -> str:
    """The title without its final point. A question mark, an exclamation mark and an ellipsis belong to the title."""
    text = (title or "").strip()
    if text.endswith(".]"):
        text = text[:-2] + "]"
    if text.endswith("]") and "[" not in text:
        text = text[:-1]
    return text if text.endswith("...") else text.removesuffix(".").rstrip()


_RETRACTING = ("RetractionIn", "PartialRetractionIn", "RetractedandRepublishedIn")
_SOURCE = re.compile(
    r"(?:.*\.\s+)?(?P<journal>[^.]+?)\.?\s+(?P<year>(?:1[89]|2[01])\d\d)(?:[^;:.]*)"
    r"(?:;(?P<volume>[^(:;]+)?(?:\((?P<issue>[^)]*)\))?(?::(?P<pages>[\w.\- ]+?))?)?(?:[.;].*)?"
)


def nlm_notices(work: Work) -> Iterator[str]:
    """`Retraction in: Lancet. 2010 Feb 6;375(9713):445.`, one for each notice, the gravest first."""
    for kind, (_, _, label) in CORRECTIONS.items():
        for correction in work.article.corrections:
            if correction.kind == kind and label:
                yield f"{label}: {_cited(correction)}"


def notes(work: Work) -> list[str]:
    """Notes for reference managers: retraction, notices, an incomplete author list."""
    lines = ["Retracted publication."] if work.retracted else []
    lines += nlm_notices(work)
    if not work.article.authors_complete:
        lines.append("PubMed's list of authors is incomplete.")
    return lines


def apa_retraction(work: Work) -> str:
    """`(Retraction published 2010, Lancet, 375[9713], 445)`, APA's note on a retracted work; "" without a source.

    A source that cannot be taken apart is quoted whole.
    """
    for correction in work.article.corrections:
        if correction.kind in _RETRACTING and correction.citation:
            match = _SOURCE.fullmatch(correction.citation.strip())
            if not match:
                return f"(Retraction published in {correction.citation.strip().rstrip('.')})"
            volume, issue = (match["volume"] or "").strip(), match["issue"]
            numbered = f"{volume}[{issue}]" if issue else volume
            parts = (
                f"Retraction published {match['year']}",
                match["journal"],
                numbered,
                full_pages(match["pages"], "–"),
            )
            return f"({', '.join(filter(None, parts))})"
    return ""


def _cited(correction: Correction) -> str:
    text = (correction.citation or "").strip().rstrip(".")
    pmid = f" PMID: {correction.pmid}." if correction.pmid else ""
    return f"{text}.{pmid}" if text else (pmid.strip() or "source not stated.")

"""PubMed's search syntax: a query as a tree, the tree as a query, and the records that it finds.

Operators are AND, OR and NOT in capitals, from left to right without precedence; words beside each other are joined by
AND. Words before a tag, and those in quotation marks or with hyphens, are a phrase: they stand beside each other in one
title, section, keyword or heading. A word is a run of letters and digits without case, accents and plural rules; Greek
letters are spelled. `asthma*` finds what begins so. `smith j[au]` finds smith ja, `"smith j"[au]` does not. `[pt]`
finds narrower types too, and as retracted what is known to be; `[mh]` finds the heading alone, as there is no tree of
MeSH here.

`fields_of` is what a record has to be found by, and `matches` the rule that every engine keeps.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.identifiers import bare_pmid, doi, normal, pmcid
from bio_mcp.literature.languages import MARC
from bio_mcp.literature.records import Article, Author, PartialDate, RetractionStatus
from bio_mcp.retrieval.analysis import QUERY_CHARACTERS, STOP_WORDS, words_of
from bio_mcp.retrieval.filter_values import PUBLICATION_TYPES, language, publication_type, with_narrower_types

MOST_TERMS = 500  # of a query
DEEPEST = 50  # brackets in brackets
MOST_LEVELS = 150  # of operators on what others give; at 400 a node of OpenSearch runs out of its stack
SHORTEST = 4  # letters before a *
LONGEST_NAME = 10  # words of a person's name
EXCERPT = 24  # characters that an error shows
LAST_YEAR = 3000  # which PubMed has for a range without an end


class Field(StrEnum):
    """A field by its shortest tag."""

    ALL = "all"
    TITLE = "ti"
    ABSTRACT = "ab"
    KEYWORD = "ot"
    TITLE_ABSTRACT = "tiab"
    TEXT_WORD = "tw"
    AUTHOR = "au"
    FIRST_AUTHOR = "1au"
    LAST_AUTHOR = "lastau"
    JOURNAL = "ta"
    MESH = "mh"
    MESH_ALONE = "mh:noexp"
    MAJOR = "majr"
    MAJOR_ALONE = "majr:noexp"
    PUBLICATION_TYPE = "pt"
    LANGUAGE = "la"
    SUBSET = "sb"
    PMID = "pmid"
    PMCID = "pmcid"
    DOI = "doi"


TEXTS: Mapping[Field, tuple[str, ...]] = {
    Field.TITLE: ("title",),
    Field.ABSTRACT: ("abstract",),
    Field.KEYWORD: ("keywords",),
    Field.TITLE_ABSTRACT: ("title", "abstract", "keywords"),
    Field.TEXT_WORD: ("title", "abstract", "keywords", "other"),
    Field.ALL: ("title", "abstract", "keywords", "other", "names"),
}
"""The texts of `PaperFields` in which a field's words are looked for."""

STORED_AS: Mapping[Field, Field] = {Field.MESH_ALONE: Field.MESH, Field.MAJOR_ALONE: Field.MAJOR}
"""The values of `PaperFields` among which a field is looked for, where those have another name."""

_TAGS = {
    **{each.value: each for each in Field},
    "all fields": Field.ALL, "title": Field.TITLE, "abstract": Field.ABSTRACT, "other term": Field.KEYWORD,
    "title/abstract": Field.TITLE_ABSTRACT, "text word": Field.TEXT_WORD, "text words": Field.TEXT_WORD,
    "author": Field.AUTHOR, "auth": Field.AUTHOR, "fau": Field.AUTHOR, "full author name": Field.AUTHOR,
    "author - first": Field.FIRST_AUTHOR, "first author": Field.FIRST_AUTHOR, "first author name": Field.FIRST_AUTHOR,
    "author - last": Field.LAST_AUTHOR, "last author": Field.LAST_AUTHOR, "last author name": Field.LAST_AUTHOR,
    "author - corporate": Field.AUTHOR, "corporate author": Field.AUTHOR, "cn": Field.AUTHOR,
    "journal": Field.JOURNAL, "jour": Field.JOURNAL, "jid": Field.JOURNAL, "titl": Field.TITLE, "word": Field.TEXT_WORD,
    "mesh": Field.MESH, "mesh terms": Field.MESH, "mesh:noexp": Field.MESH_ALONE,
    "mesh terms:noexp": Field.MESH_ALONE, "mesh major topic": Field.MAJOR, "majr:noexp": Field.MAJOR_ALONE,
    "mesh major topic:noexp": Field.MAJOR_ALONE, "publication type": Field.PUBLICATION_TYPE,
    "ptyp": Field.PUBLICATION_TYPE, "language": Field.LANGUAGE, "lang": Field.LANGUAGE, "subset": Field.SUBSET,
    "filter": Field.SUBSET, "uid": Field.PMID,
    "pmc": Field.PMCID, "aid": Field.DOI, "lid": Field.DOI, "location id": Field.DOI, "article identifier": Field.DOI,
}  # fmt: skip
_DATES = ("dp", "date - publication", "publication date", "pdat")


@dataclass(frozen=True, slots=True)
class Term:
    """Something in a field.

    Words of a text, an author, a journal or a heading are lower-case `words`; the last may be `truncated`. Another
    value is one word, as it is stored. `phrase` says of an author that the name is whole, elsewhere that there are more
    words than one.
    """

    field: Field
    words: tuple[str, ...]
    phrase: bool = False
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Dates:
    """Days of publication, both included."""

    low: date
    high: date


@dataclass(frozen=True, slots=True)
class And:
    parts: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Or:
    parts: "tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Not:
    part: "Tree"


Tree = Term | Dates | And | Or | Not


_NAMES = "|".join(re.escape(each).replace(r"\ ", r"\s+") for each in (*_TAGS, *_DATES))
KNOWN_TAG = rf"\[\s*(?:{_NAMES})\s*\]"
"""A regular expression, for text without case."""
_DAY = r"[0-9]{4}(?:[/-][0-9]{1,2}){0,2}"
_TOKEN = re.compile(
    rf"""
      (?P<range>"?(?P<low>{_DAY})"?\s*(?:\[(?P<low_tag>[^\[\]]*)\]\s*)?:\s*"?(?P<high>{_DAY})"?\s*
        \[(?P<high_tag>[^\[\]]*)\])
    | (?P<known>{KNOWN_TAG})
    | (?P<tag>\[[^\[\]]*\](?!\w))
    | (?P<quoted>"[^"]*")
    | (?P<mark>[()])
    | (?P<operator>(?:AND|OR|NOT)(?![^\s()\[\]"]))
    | (?P<address>(?:https?://[\w.]+/|doi:)?10\.[0-9]{{3,9}}/[^\s\[\]"]+)
    | (?P<word>(?:[^\s()\[\]"]|(?!{KNOWN_TAG})\[[^\s\[\]"]*\](?=[\w-]))+)
    | (?P<stray>["\[\]])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CURLY = str.maketrans("“”„‟″", '"""""')
_BARE_RANGE = re.compile(rf"{_DAY}:{_DAY}")
_EARLIER_SEARCH = re.compile(r"#[0-9]{1,3}")
_SMALL_OPERATORS = ("and", "or", "not")
_STAR_INSIDE = re.compile(r"\*(?!\d)")  # HLA-B*57 has no truncation


class _Token(NamedTuple):
    kind: str
    text: str
    at: int
    found: re.Match[str]


def parsed(query: str) -> Tree:
    """The tree of a query. Raises `InvalidInput`, which names the place and what was expected there."""
    return _Parser(query).tree()


class _Parser:
    """Reads one query, with at most `DEEPEST` calls in each other."""

    def __init__(self, query: str) -> None:
        self._query = query.translate(_CURLY)
        if len(query) > QUERY_CHARACTERS:
            raise self._refused(f"a query has at most {QUERY_CHARACTERS:,} characters, this one {len(query):,}", 0)
        self._tokens = list(_tokens(self._query))
        self._next = self._terms = 0

    def tree(self) -> Tree:
        for kind, text, at, _ in self._tokens:
            if kind == "stray" and text == '"':
                raise self._refused('a quotation mark (") is not closed; expected another one', at)
            if kind == "stray":
                raise self._refused("a square bracket without its other; expected a tag such as [ti]", at)
        tree = self._expression(0)
        if (token := self._peek()) is not None:
            raise self._refused("a bracket is closed that was not opened; expected a term or the end", token.at)
        if _levels(tree) > MOST_LEVELS:
            raise self._refused(f"AND, OR and NOT take turns more than {MOST_LEVELS} times; expected fewer", 0)
        return tree

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _expression(self, depth: int) -> Tree:
        """What stands up to the closing bracket or the end."""
        tree: Tree | None = None
        waiting: _Token | None = None
        while (token := self._peek()) is not None and token.text != ")":
            if token.kind != "operator":
                if (operand := self._operand(depth)) is not None:
                    tree, waiting = _joined(tree, waiting.text if waiting else "AND", operand), None
                continue
            if waiting is not None and (waiting.text, token.text) != ("AND", "NOT"):  # which others write for NOT
                raise self._refused(f"expected a term between {waiting.text} and {token.text}", token.at)
            if tree is None and token.text != "NOT":
                raise self._refused(f"expected a term before {token.text}", token.at)
            self._next, waiting = self._next + 1, token
        at = token.at if token else len(self._query)
        if waiting is not None:
            raise self._refused(f"expected a term after {waiting.text}", waiting.at)
        if tree is None:
            raise self._refused("expected a term", at)
        return tree

    def _operand(self, depth: int) -> Tree | None:
        """A bracket, a range of dates, a phrase, or words with their tag; None for a mark that says nothing."""
        token = self._tokens[self._next]
        self._next += 1
        match token.kind:
            case "mark":
                return self._bracket(token, depth)
            case "range":
                return self._range(token)
            case "known" | "tag":
                raise self._refused(f"expected a term before {token.text}", token.at)
            case "quoted":
                return self._tagged([token], quoted=True)
        if token.text in _SMALL_OPERATORS and self._next > 1 and self._ends_operand(self._tokens[self._next - 2]):
            if token.text != "and":
                raise self._refused(f"expected {token.text.upper()} in capitals, as an operator", token.at)
            return None
        words = [token]
        while (following := self._peek()) is not None and following.kind == "word":
            words.append(following)
            self._next += 1
        tagged = following is not None and following.kind in ("known", "tag")
        return self._tagged(words, quoted=False) if tagged else self._untagged(words)

    @staticmethod
    def _ends_operand(token: _Token) -> bool:
        return token.kind in ("known", "range", "quoted") or token.text == ")"

    def _bracket(self, opening: _Token, depth: int) -> Tree:
        if depth == DEEPEST:
            raise self._refused(f"more than {DEEPEST} brackets are in each other; expected fewer", opening.at)
        if (token := self._peek()) is not None and token.text == ")":
            raise self._refused("expected a term between the brackets", token.at)
        tree = self._expression(depth + 1)
        if self._peek() is None:
            raise self._refused("a bracket is not closed; expected )", opening.at)
        self._next += 1
        return tree

    def _untagged(self, words: list[_Token]) -> Tree | None:
        """Each word by itself, without those that say nothing."""
        terms = [(each, term) for each in words if (term := self._term(each.text, Field.ALL, each.at)) is not None]
        telling = [term for each, term in terms if each.text.lower() not in STOP_WORDS]
        tree: Tree | None = None
        for term in telling or [term for _, term in terms]:
            tree = _joined(tree, "AND", term)
        return tree

    def _tagged(self, tokens: list[_Token], *, quoted: bool) -> Tree | None:
        first, last = tokens[0], tokens[-1]
        text = self._query[first.at : last.at + len(last.text)]
        text = text[1:-1] if quoted else text
        name = self._tag()
        if name in _DATES:
            self._count(first.at)
            return Dates(*self._days(text, first.at))
        term = self._term(text, _TAGS[name], first.at, quoted=quoted)
        if term is None:
            raise self._refused("expected a word with a letter or digit", first.at)
        return term

    def _tag(self) -> str:
        """The name of the tag that comes next, that of all fields where none does."""
        tag = self._peek()
        if tag is None or tag.kind not in ("known", "tag"):
            return Field.ALL.value
        self._next += 1
        name = _bare(tag.text[1:-1])
        if tag.kind == "known":
            return name
        near = [f"[{each}]" for each in get_close_matches(name[:40], [*_TAGS, *_DATES], 2, 0.7)]
        known = ", ".join(f"[{each.value}]" for each in Field)
        advice = f"did you mean {' or '.join(near)}?" if near else f"expected one of {known}, [dp]"
        raise self._refused(f"the tag [{name[:40]}] is unknown here; {advice}", tag.at)

    def _range(self, token: _Token) -> Dates:
        for tag in filter(None, (token.found["low_tag"], token.found["high_tag"])):
            if _bare(tag) not in _DATES:
                raise self._refused(f"a range is of dates; expected [dp], not [{tag[:40]}]", token.at)
        self._count(token.at)
        low, high = (self._days(token.found[end], token.at)[place] for place, end in enumerate(("low", "high")))
        if low > high:
            raise self._refused(f"expected a range that ends after it begins, not {low} to {high}", token.at)
        return Dates(low, high)

    def _days(self, text: str, at: int) -> tuple[date, date]:
        """The first and the last day of a year, a month or a day."""
        with suppress(ValueError):
            if re.fullmatch(_DAY, text.strip()):
                year, *rest = map(int, re.split("[/-]", text.strip()))
                month, day = [*rest, None, None][:2]
                first = date(year, month or 1, day or 1)
                last_month = month or 12
                return first, first.replace(month=last_month, day=day or monthrange(year, last_month)[1])
        raise self._refused(f"expected a date such as 2019, 2019/06 or 2019/06/30, not {text[:EXCERPT]!r}", at)

    def _term(self, text: str, field: Field, at: int, *, quoted: bool = False) -> Term | None:
        """The term of this text; None if it has no word."""
        self._count(at)
        if field not in TEXTS and field not in _WORDED:
            return Term(field, (self._value(text, field, at),))
        if _EARLIER_SEARCH.fullmatch(text):
            raise self._refused(f"earlier searches have no numbers here; expected what {text} was", at)
        if _BARE_RANGE.fullmatch(text):
            raise self._refused("expected [dp] after a range of dates", at)
        stripped = text.strip()
        truncated = stripped.endswith("*")
        if _STAR_INSIDE.search(stripped.rstrip("*")):
            raise self._refused("expected * at the end of the last word alone", at)
        words = _WORDED[field](text) if field in _WORDED else words_of(text)
        if truncated and (not words or len(words[-1]) < SHORTEST):
            raise self._refused(f"expected at least {SHORTEST} letters or digits before *", at)
        if not words:
            return None
        return Term(field, words, quoted if field in _AUTHORS else len(words) > 1, truncated)

    def _value(self, text: str, field: Field, at: int) -> str:
        if "*" in text and field is not Field.DOI:
            raise self._refused(f"expected a whole value before [{field.value}], without *", at)
        try:
            return _value_of(field, text.strip())
        except InvalidInput as problem:
            raise self._refused(str(problem), at) from None

    def _count(self, at: int) -> None:
        self._terms += 1
        if self._terms > MOST_TERMS:
            raise self._refused(f"expected at most {MOST_TERMS} terms", at)

    def _refused(self, problem: str, at: int) -> InvalidInput:
        """The failure for what stands `at` a place of the query."""
        excerpt = self._query[max(0, at - EXCERPT) : at + EXCERPT]
        return InvalidInput(f"{problem} (character {at + 1}, in {excerpt!r})", position=at, excerpt=excerpt)


def _tokens(query: str) -> Iterator[_Token]:
    at = 0
    while found := _TOKEN.search(query, at):
        kind, text = str(found.lastgroup), found.group()
        if kind == "address":
            kind, text = "word", without_marks(text)
        elif kind == "operator" and not text.isupper():
            kind = "word"
        at = found.start() + len(text)
        yield _Token(kind, text, found.start(), found)


def _bare(tag: str) -> str:
    return " ".join(tag.lower().split())


def without_marks(identifier: str) -> str:
    """An address or DOI in running text without the marks behind it; a bracket that it opens stays its own."""
    while identifier and (
        identifier[-1] in ".,;:!?'>*" or (identifier[-1] in ")]" and _closes_another(identifier, identifier[-1]))
    ):
        identifier = identifier[:-1]
    return identifier


def _closes_another(text: str, bracket: str) -> bool:
    return text.count(bracket) > text.count({")": "(", "]": "["}[bracket])


def _levels(tree: Tree) -> int:
    levels, row = 0, [tree]
    while row:
        inner = [each for each in row if not isinstance(each, Term | Dates)]
        row = [part for each in inner for part in ((each.part,) if isinstance(each, Not) else each.parts)]
        levels += 1
    return levels


def _joined(left: Tree | None, operator: str, right: Tree) -> Tree:
    """Both, either, or the first without the second."""
    if operator == "NOT":
        right = right.part if isinstance(right, Not) else Not(right)
    if left is None:
        return right
    kind = Or if operator == "OR" else And
    parts = [each.parts if isinstance(each, kind) else (each,) for each in (left, right)]
    return kind((*parts[0], *parts[1]))


def _name_words(text: str) -> tuple[str, ...]:
    """A name's words, with the initials behind it in one: "Smith, J. A." is smith, ja."""
    words = words_of(text)
    whole = len(words)
    while whole > 1 and len(words[whole - 1]) == 1:
        whole -= 1
    return (*words[:whole], *filter(None, ["".join(words[whole:])]))


def author(name: str) -> Term:
    """The term for the papers of an author."""
    return Term(Field.AUTHOR, _name_words(name))


def named(name: str, field: Field) -> Term | None:
    """The term for a journal or heading by its name; None for what has no letter or digit."""
    words = _WORDED[field](name)
    return Term(field, words, phrase=len(words) > 1) if words else None


def _heading_words(text: str) -> tuple[str, ...]:
    """A heading's words; a slash stands between it and its qualifier."""
    heading, _, qualifier = text.partition("/")
    return (*words_of(heading), "/", *words_of(qualifier)) if words_of(qualifier) else words_of(heading)


def _journal_words(text: str) -> tuple[str, ...]:
    words = words_of(text)
    return words[1:] if words[1:] and words[0] == "the" else words


_AUTHORS = (Field.AUTHOR, Field.FIRST_AUTHOR, Field.LAST_AUTHOR)
_WORDED = {
    **dict.fromkeys(_AUTHORS, _name_words),
    **dict.fromkeys((Field.MESH, Field.MESH_ALONE, Field.MAJOR, Field.MAJOR_ALONE), _heading_words),
    Field.JOURNAL: _journal_words,
}


def _value_of(field: Field, text: str) -> str:
    """A value as it is stored. Raises `InvalidInput`."""
    match field:
        case Field.PUBLICATION_TYPE:
            return publication_type(text)
        case Field.LANGUAGE:
            return language(text)
        case Field.SUBSET:
            return _subset(text)
        case Field.PMID:
            return bare_pmid(text)
        case Field.PMCID:
            return pmcid(text)
    return normal(pmcid, text) or doi(text)


WITH_ABSTRACT = Term(Field.SUBSET, ("hasabstract",))


def _subset(text: str) -> str:
    if text.lower() not in WITH_ABSTRACT.words:
        raise InvalidInput(f"expected hasabstract before [{Field.SUBSET.value}], not {text[:EXCERPT]!r}")
    return text.lower()


_SHOWN = {
    Field.PUBLICATION_TYPE: {stored: name for name, stored in PUBLICATION_TYPES.items()},
    Field.LANGUAGE: {code: name for code, (name, _) in MARC.items()},
}


def printed(tree: Tree) -> str:
    """The tree as a query that reads back as it."""
    match tree:
        case Term():
            return _printed_term(tree)
        case Dates(low, high):
            return f"{_printed_day(low)}:{_printed_day(high)}[dp]"
        case Not(part):
            return f"NOT {_operand(part)}"
        case Or(parts):
            return " OR ".join(map(_operand, parts))
        case And((first, *others)):
            rest = (printed(each) if isinstance(each, Not) else f"AND {_operand(each)}" for each in others)
            return " ".join((_operand(first), *rest))
    raise TypeError(tree)


def _operand(tree: Tree) -> str:
    return printed(tree) if isinstance(tree, Term | Dates) else f"({printed(tree)})"


def _printed_term(term: Term) -> str:
    known = _SHOWN.get(term.field, {})
    text = " ".join(known.get(each, each) for each in term.words) + "*" * term.truncated
    quoted = f'"{text}"' if term.phrase or (term.field not in TEXTS and term.field not in _AUTHORS) else text
    return quoted if term.field is Field.ALL else f"{quoted}[{term.field.value}]"


def _printed_day(day: date) -> str:
    return f"{day.year:04}/{day.month:02}/{day.day:02}"


GAP = "|"  # between two texts of one field: no phrase runs across it


@dataclass(frozen=True, slots=True)
class PaperFields:
    """What a paper is found by: its words in each of its texts, its values in each other field, and its days.

    A text has a space before and behind each word, and `GAP` between titles, sections, keywords and names. A person's
    values are "smith,ja" and "smith;jane ann", a group's "recovery group,".
    """

    texts: Mapping[str, str]
    values: Mapping[Field, frozenset[str]]
    days: tuple[date, ...]


NOTHING = PaperFields({}, {}, ())
"""The fields of a paper that no query in this syntax finds."""


def fields_of(article: Article) -> PaperFields:
    """What `article` is found by. Affiliations and grants are left out."""
    contributed = article.book.contribution_date if article.book else None
    dates = (article.publication_date, article.electronic_date, contributed)
    return PaperFields(
        {name: _text(each) for name, each in _texts(article).items()},
        {field: frozenset(filter(None, each)) for field, each in _values(article).items()},
        tuple(sorted({_first_day(each) for each in dates if each and each.year})),
    )


Texts = Iterable[str | None]


def _texts(article: Article) -> Mapping[str, Texts]:
    authors, headings = article.authors, article.mesh
    abstracts = (article.abstract, *(each.sections for each in article.other_abstracts))
    return {
        "title": [article.title],
        "abstract": [f"{each.label or ''} {each.text}" for sections in abstracts for each in sections],
        "keywords": article.keywords,
        "other": [
            *(article.vernacular_title, article.book.title if article.book else None),
            *(each.name for each in headings),
            *(each.name for heading in headings for each in heading.qualifiers),
            *(each.name for each in article.chemicals),
            *(each.name for each in article.publication_types),
            *(each.collective_name for each in authors),
            *(number for bank in article.databanks for number in bank.accessions),
        ],
        "names": [
            *(each.short_name for each in authors),
            *(f"{each.fore_name} {each.last_name}" for each in authors if each.fore_name and each.last_name),
            *_titles(article),
        ],
    }


def _values(article: Article) -> Mapping[Field, Texts]:
    authors, journal, types = article.authors, article.journal, article.publication_types
    names = [*_titles(article), *((journal.issn, journal.issn_l, journal.nlm_id) if journal else ())]
    number = normal(pmcid, article.pmcid)
    retracted = [PUBLICATION_TYPES["Retracted Publication"]] * (article.retraction is RetractionStatus.RETRACTED)
    return {
        Field.AUTHOR: [name for each in authors for name in _names(each)],
        Field.FIRST_AUTHOR: [name for each in authors[:1] for name in _names(each)],
        Field.LAST_AUTHOR: [name for each in authors[-1:] for name in _names(each)],
        Field.JOURNAL: [" ".join(_journal_words(each)) for each in names if each],
        Field.MESH: [value for value, _ in _headings(article)],
        Field.MAJOR: [value for value, major in _headings(article) if major],
        Field.PUBLICATION_TYPE: [*(each.ui for each in types), *(each.name.lower() for each in types), *retracted],
        Field.LANGUAGE: article.languages,
        Field.SUBSET: WITH_ABSTRACT.words if any(each.text for each in article.abstract) else (),
        Field.PMID: [article.pmid],
        Field.PMCID: [number],
        Field.DOI: [normal(doi, article.doi), number],
    }


def _titles(article: Article) -> Texts:
    journal = article.journal
    return (journal.title, journal.medline_abbreviation, journal.iso_abbreviation) if journal else ()


def _text(parts: Texts) -> str:
    found = (words for part in parts if part and (words := words_of(part)))
    return f" {f' {GAP} '.join(map(' '.join, found))} "


def _names(author: Author) -> Iterator[str]:
    if author.collective_name:
        yield " ".join(words_of(author.collective_name)) + ","
    if author.last_name:
        last, fore = (" ".join(words_of(each or "")) for each in (author.last_name, author.fore_name))
        suffix = " ".join(words_of(author.suffix or ""))
        yield f"{last},{''.join(words_of(author.initials or ''))} {suffix}".rstrip()
        if fore:
            yield f"{last};{fore}"


def _headings(article: Article) -> Iterator[tuple[str, bool]]:
    """Each heading, and each with a qualifier, and whether the paper is mainly about it."""
    for heading in article.mesh:
        name = " ".join(words_of(heading.name))
        yield name, heading.major or any(each.major for each in heading.qualifiers)
        for each in heading.qualifiers:
            yield f"{name} / {' '.join(words_of(each.name))}", each.major


def _first_day(printed_date: PartialDate) -> date:
    """The first day that a date may mean, as PubMed has it."""
    year, month, day = printed_date.year or 1, printed_date.month or 1, printed_date.day or 1
    try:
        return date(year, month, day)
    except ValueError:  # as of the 31st of June
        return date(min(max(year, 1), LAST_YEAR), min(max(month, 1), 12), 1)


class Wanted(NamedTuple):
    """The values that satisfy a term: these, and those that begin with one of `prefixes`."""

    values: frozenset[str]
    prefixes: tuple[str, ...] = ()


def wanted(term: Term) -> Wanted:
    """What to look for among `PaperFields.values`, for a term in none of `TEXTS`."""
    if term.field in _AUTHORS:
        return _wanted_names(term)
    value = " ".join(term.words)
    if term.field is Field.PUBLICATION_TYPE:
        return Wanted(with_narrower_types(value))
    return Wanted(frozenset(), (value,)) if term.truncated else Wanted(frozenset([value]))


def _wanted_names(term: Term) -> Wanted:
    """A name with its last name first or last; unless it is quoted, initials may go on."""
    words = term.words
    halves = [(words[:at], words[at:]) for at in range(1, len(words))] if len(words) <= LONGEST_NAME else []
    splits = [(" ".join(last), _given(given)) for half in halves for last, given in (half, half[::-1])]
    whole = " ".join(words)
    if term.truncated:
        return Wanted(frozenset(), (whole, *(f"{last}{mark}{given}" for last, given in splits for mark in ",;")))
    if term.phrase:
        return Wanted(frozenset(f"{last}{mark}{given}" for last, given in splits for mark in ",;"), (f"{whole},",))
    initials = [f"{last},{given}" for last, given in splits]
    fore_names = [f"{last};{given}" for last, given in splits]
    return Wanted(frozenset(fore_names), (f"{whole},", *initials, *(f"{each} " for each in fore_names)))


def _given(words: tuple[str, ...]) -> str:
    """Fore names, or initials in one."""
    return ("" if all(len(each) == 1 for each in words) else " ").join(words)


def matches(tree: Tree, paper: PaperFields) -> bool:
    """Whether the query finds the paper."""
    match tree:
        case And(parts):
            return all(matches(each, paper) for each in parts)
        case Or(parts):
            return any(matches(each, paper) for each in parts)
        case Not(part):
            return not matches(part, paper)
        case Dates(low, high):
            return any(low <= day <= high for day in paper.days)
        case Term():
            return _has(tree, paper)
    raise TypeError(tree)


def _has(term: Term, paper: PaperFields) -> bool:
    if term.field in TEXTS:
        sought = f" {' '.join(term.words)}{'' if term.truncated else ' '}"
        return any(sought in paper.texts.get(name, "") for name in TEXTS[term.field])
    values, prefixes = wanted(term)
    stored = paper.values.get(STORED_AS.get(term.field, term.field), frozenset())
    return not values.isdisjoint(stored) or any(each.startswith(prefixes) for each in stored)

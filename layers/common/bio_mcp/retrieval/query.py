"""What a person typed, read once: identifiers, an author, PubMed's syntax, or a question, and in words how it was read.

- **Identifiers** alone are the papers that have them; within a question they are named beside it. Digits alone are a
  PMID; several numbers are if each has five digits or more.
- **An author** is asked for by name and year ("Smith 2019 asthma", "Smith et al. 2019"), or by a name alone with
  initials or a fore name, where the corpus has such an author, or "et al." says so. A surname alone is a word.
- **PubMed's syntax** is told by a known tag, a text in quotation marks, a word with `*` behind it, `*` alone, a tag
  that stands right behind a word, or AND, OR and NOT in capitals. A text that ends in a question mark is a question
  unless it has a known tag; so is one all in capitals that has function words, and one that ends in a full stop and has
  neither a tag nor AND, OR and NOT. What has a sign of the syntax and cannot be read raises `InvalidInput`: it is never
  searched as words.
- All else is **a question**: brackets and lower-case and, or, not are words of it.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from bio_mcp.literature.identifiers import doi, normal, parse_pmid, pmcid
from bio_mcp.retrieval.analysis import QUERY_CHARACTERS, QUERY_STOP_WORDS, words_of
from bio_mcp.retrieval.pubmed_syntax import (
    KNOWN_TAG,
    TEXTS,
    And,
    Dates,
    Field,
    Or,
    Term,
    Tree,
    author,
    parsed,
    printed,
    without_marks,
)

MOST_IDENTIFIERS = 200
TITLE_WORDS = 4, 40  # of what may be a title
TITLE_CHARACTERS = 1_000


class Kind(StrEnum):
    QUESTION = "question"
    BOOLEAN = "boolean"
    IDENTIFIER = "identifier"
    AUTHOR = "author"


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """A query as it was read.

    `words` is what papers are ranked by, empty where there is nothing to rank by. `tree` is what they must match, None
    for a question. `identifiers` are `pmid:1`, `doi:10.1234/x` and `pmcid:PMC1`. `corrected` has each word that was
    read as another, and that. `title` are the words of a question that may be a title or a part of one. `text`
    says how it was read, `notes` are sentences for the user.
    """

    kind: Kind
    words: str
    text: str
    tree: Tree | None = None
    identifiers: tuple[str, ...] = ()
    corrected: tuple[tuple[str, str], ...] = ()
    title: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


KnowsAuthor = Callable[[Term], bool]
Correct = Callable[[str], str | None]


def read_query(written: str, knows_author: KnowsAuthor | None = None, correct: Correct | None = None) -> ReadQuery:
    """Read what a person typed.

    `knows_author` says whether any paper matches a term in the field of authors, `correct` gives the right spelling of
    a lower-case word, if it is misspelt. Raises `InvalidInput` for PubMed's syntax that cannot be read.
    """
    text = written[:QUERY_CHARACTERS]
    identifiers, rest = _identifiers(text)
    if identifiers and not rest:
        return ReadQuery(Kind.IDENTIFIER, "", f"Read as {listed(identifiers)}.", identifiers=identifiers)
    if is_pubmed_syntax(written):
        return _boolean(written)
    return (_author(text, knows_author) if knows_author else None) or _question(rest, identifiers, correct)


_IDENTIFIER = re.compile(
    r"(?P<address>(?:https?://|\b(?:www\.|dx\.)?(?:pubmed\.ncbi|pmc\.ncbi|ncbi\.nlm|europepmc|doi)\.)\S+)"
    r"|\b(?:(?:PMID|PubMed\s?ID)\s?:?\s?(?P<pmid>[0-9]{1,8})|(?P<tagged>[0-9]{1,8})\s*\[(?:pmid|uid)\])(?!\w|\.[0-9])"
    r"|\b(?P<pmcid>(?:PMCID\s?:?\s?)?PMC\s?[1-9][0-9]{0,8}(?:\.[0-9]{1,2})?)\b(?:\s*\[pmc(?:id)?\])?"
    r"|(?:\bdoi:?\s*)?(?<![\w.])(?P<doi>10\.[0-9]{3,9}(?:\.[0-9]+)*/[^\s\[\]\"]+)(?:\s*\[(?:doi|aid|lid)\])?"
    r"|(?<![\w.,/:-])(?P<bare>[0-9]{1,8})(?![\w/:%*\"-]|[.,][0-9])",
    re.IGNORECASE | re.ASCII,
)
_BETWEEN = frozenset(["and", "or", "pmid", "pmids", "pmcid", "doi", "dois"])
_MAY_IDENTIFY = re.compile(
    r"10\.[0-9]{3}|PM(?:ID|C)|PubMed|https?:|ncbi\.|europepmc\.|\[uid\]|^(?:[\W0-9]|and|or)+$", re.IGNORECASE | re.ASCII
)
_FEWEST_DIGITS = 5  # of each of several bare PMIDs


def _identifiers(text: str) -> tuple[tuple[str, ...], str]:
    """The identifiers in a text, and the text without them, "" where it says nothing else."""
    if not _MAY_IDENTIFY.search(text):
        return (), text
    named: list[str] = []
    digits: list[str] = []
    others: list[str] = []
    at = 0
    for match in _IDENTIFIER.finditer(text):
        kind = str(match.lastgroup)
        if kind == "bare":
            digits.append(match["bare"])
        elif identifier := _normal(without_marks(match[kind])):
            named.append(identifier)
            others.append(text[at : match.start()])
            at = match.end()
    rest = " ".join((*others, text[at:]))
    words = [word for word in re.findall(r"[^\W_]+", rest.lower()) if word not in _BETWEEN]
    if words == digits and (named or len(digits) == 1 or all(len(each) >= _FEWEST_DIGITS for each in digits)):
        named += filter(None, map(_normal, digits))
        rest = ""
    return tuple(dict.fromkeys(named))[:MOST_IDENTIFIERS], " ".join(rest.split()) if named else text


def _normal(written: str) -> str | None:
    for kind, parse in (("pmid", parse_pmid), ("pmcid", pmcid), ("doi", doi)):
        if number := normal(parse, written):
            return f"{kind}:{number}"
    return None


def listed(identifiers: Sequence[str]) -> str:
    """Some identifiers for people: "PMID 1, DOI 10.1000/x and 3 more"."""
    shown = [f"{kind.upper()} {number}" for kind, _, number in (each.partition(":") for each in identifiers[:5])]
    more = len(identifiers) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


_SIGN = re.compile(
    r'(?<![0-9])["“”]|[“"][0-9]'  # 5" is a length
    r"|\w\*(?!\w)|(?<!\S)\*(?!\S)"
    r"|[\w\"”*]\[[a-z][a-z :/-]+(?::~[0-9]+)?\](?![\w-])"
    r"|[\w\"”*]\[[a-z]{2,5}\s*$",
    re.IGNORECASE,
)
_TAG = re.compile(KNOWN_TAG, re.IGNORECASE)
_OPERATOR = re.compile(r"(?:^|(?<=[\s)\"”\]]))(?:AND|OR|NOT)(?=[\s(\"“]|$)")


def is_pubmed_syntax(text: str) -> bool:
    """Whether a text is to be read as PubMed's syntax, by the rule that stands at the beginning of this file."""
    if "[" in text and _TAG.search(text):
        return True
    if text.rstrip().endswith("?"):
        return False
    is_sentence = text.rstrip(' "”\n').endswith(".")
    return bool((_SIGN.search(text) and not is_sentence) or (_OPERATOR.search(text) and not _is_shouted(text)))


def unmarked(text: str) -> str | None:
    """The text without quotation marks and *, if it has no other sign of PubMed's syntax."""
    return None if _TAG.search(text) or _OPERATOR.search(text) else " ".join(re.sub('["“”*]', " ", text).split())


def _is_shouted(text: str) -> bool:
    others = (QUERY_STOP_WORDS - {"and", "or", "not"}).intersection(text.lower().split())
    return text.isupper() and bool(others)


_SMALL_OPERATOR = re.compile(r"\s(?:or|not)\s")
_NARROWER = "[mh] and [majr] find a heading itself, and not what is narrower: there is no tree of MeSH here."
_SMALL = "Only AND, OR and NOT in capitals are operators: or and not were read as words."


def _boolean(written: str) -> ReadQuery:
    tree = parsed(written)
    terms = list(_terms(tree))
    words = dict.fromkeys(" ".join(each.words).replace(" / ", " ") for each in terms if each.field in _TOPICS)
    notes = [_NARROWER] if any(each.field in (Field.MESH, Field.MAJOR) for each in terms) else []
    notes += [_SMALL] if _SMALL_OPERATOR.search(written) else []
    text = f"Read as PubMed's syntax, from left to right: {printed(tree)}."
    return ReadQuery(Kind.BOOLEAN, " ".join(words), text, tree, notes=tuple(notes))


_TOPICS = {*TEXTS, Field.MESH, Field.MESH_ALONE, Field.MAJOR, Field.MAJOR_ALONE}


def _terms(tree: Tree) -> Iterator[Term]:
    """The terms of a query that papers shall have."""
    match tree:
        case And(parts) | Or(parts):
            for each in parts:
                yield from _terms(each)
        case Term():
            yield tree


_LAST = (
    r"(?:(?:[Vv][ao]n|[Dd]e[nrl]?|[Dd]ell?a|[Dd][aiou]s?|[Ll][ae]|[Ee]l|[Aa]l|[Bb]in|[Tt]e[nr])\s)*"
    r"[^\W\d_a-z](?:[^\W\d_]|['’-](?=[^\W\d_]))+"
)
_INITIALS = r"[A-Z]\.?(?:[ -]?[A-Z]\.?){0,2}(?![^\W_])"
_WITH_YEAR = re.compile(
    rf"\s*(?P<name>{_LAST}(?:,?\s(?:{_INITIALS}|{_LAST}))?)(?P<others>,?\s+et\.?\s+al\b\.?|\s+(?:and|&)\s+(?P<second>{_LAST}))?"
    r"(?:,?\s*\(?(?P<year>1[89][0-9]{2}|20[0-9]{2})[a-z]?\)?(?![\w/:-]))?[,.:;]?(?:\s+(?P<rest>.*))?\s*",
    re.DOTALL,
)
_ALONE = re.compile(rf"\s*(?P<name>{_LAST},?\s(?:{_INITIALS}|{_LAST}(?:\s{_INITIALS})?)|{_INITIALS}\s?{_LAST})\s*")
_ET_AL = re.compile(r"^[^\W\d_]+ et\.? al\b")
_BRACKETED = re.compile(r"\s*\(([^()]{1,200})\)\s*")
_NO_AUTHORS = frozenset(
    "january february march april may june july august september october november december spring summer autumn "
    "winter".split()
)


def _author(text: str, knows_author: KnowsAuthor) -> ReadQuery | None:
    """The papers of an author, if the text asks for them."""
    if _ET_AL.search(text):
        text = text[:1].upper() + text[1:]
    if (bracket := _BRACKETED.fullmatch(text)) is not None:
        text = bracket[1]
    if alone := _ALONE.fullmatch(text):
        return _papers_of([alone["name"]], None, "", knows_author)
    found = _WITH_YEAR.fullmatch(text)
    if found is None or not (found["year"] or found["others"]) or found["name"].lower() in _NO_AUTHORS:
        return None
    if found["second"] and not found["year"]:
        return None
    names = [found["name"], *filter(None, [found["second"]])]
    et_al = bool(found["others"]) and not found["second"] and bool(found["year"] or not found["rest"])
    return _papers_of(names, found["year"], found["rest"] or "", (lambda _: True) if et_al else knows_author)


def _papers_of(names: list[str], year: str | None, rest: str, knows_author: KnowsAuthor) -> ReadQuery | None:
    authors = [author(each) for each in names]
    if not all(map(knows_author, authors)):
        return None
    dates = [Dates(date(int(year), 1, 1), date(int(year), 12, 31))] if year else []
    parts: tuple[Tree, ...] = (*authors, *dates)
    said = " and ".join(" ".join(each.split()) for each in names) + (f", of {year}" if year else "")
    about = " ".join(rest.split())
    text = f"Read as papers by {said}{', on ' + about if about else ''}."
    return ReadQuery(Kind.AUTHOR, about, text, parts[0] if len(parts) == 1 else And(parts))


_WORD = re.compile(r"(?<![\w'’.*-])[^\W\d_]{5,40}(?![\w'’*-]|\.\w)")
GENE = 6  # letters of a name in capitals, at most
MOST_CORRECTED = 16  # words of a question that are looked up, as each takes milliseconds


def _question(text: str, identifiers: tuple[str, ...], correct: Correct | None) -> ReadQuery:
    """A question, with the right spelling of what is neither a function word nor a name, such as a later word with a
    capital."""
    spelled: dict[str, str] = {}
    for match in _WORD.finditer(text):
        word = match[0]
        is_name = (word[0].isupper() and match.start() > 0) or (len(word) <= GENE and not word[1:].islower())
        if correct and not (is_name or word in spelled or word.lower() in QUERY_STOP_WORDS):
            spelled[word] = correct(word.lower()) or word
            if len(spelled) == MOST_CORRECTED:
                break
    corrected = {word: right for word, right in spelled.items() if word != right}
    words = _WORD.sub(lambda match: corrected.get(match[0], match[0]), text) if corrected else text
    told = "".join(f", {wrong} as {right}" for wrong, right in corrected.items())
    named = f"; it names {listed(identifiers)}" if identifiers else ""
    parts = words_of(words[:TITLE_CHARACTERS])
    title = parts if TITLE_WORDS[0] <= len(parts) <= TITLE_WORDS[1] else ()
    reading = f"Read as a question{told}{named}."
    return ReadQuery(Kind.QUESTION, words, reading, None, identifiers, tuple(corrected.items()), title)

"""PubMed's search language, as far as a careful client uses it.

Operators bind left to right with no precedence (`a OR b AND c` is `(a OR b) AND c`); adjacent terms are ANDed. A term
that no record holds is *dropped* with a note, so the rest decides the count: a typo can widen a search. Phrases
that are not found are searched word by word. `AND NOT` finds nothing; `NOT` alone is right.
"""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support.eutils_server import days
from tests.support.eutils_server.catalogue import Catalogue, Pmids
from tests.support.eutils_server.fields import ALL, FILTER, Field, field_of, filter_of, matcher

_TOKEN = re.compile(r'"([^"]*)"|\[([^\[\]]*)\]|([()\[\]:])|([^\s()\[\]":]+)|"')
_OPERATORS = ("AND", "OR", "NOT")
# In PubMed's index whether or not a record here has it.
_INDEXED = (
    "retracted publication",
    "hasretractionin",
    "haspartialretractionin",
    "hasretractedandrepublishedin",
    "hasexpressionofconcernin",
)
_STOP_WORDS = frozenset(("a", "an", "and", "as", "at", "be", "by", "for", "from", "in", "is", "of", "on", "or", "the"))


class SearchBackendFailed(Exception):
    """The query cannot be parsed; the answer is 200 with `Search Backend failed`."""


class Token(NamedTuple):
    kind: str
    text: str


class Found(NamedTuple):
    """PMIDs and how the term was understood; `pmids` is None for a term that was dropped."""

    pmids: Pmids | None
    translation: str


@dataclass
class Notes:
    """What the search did not do as asked."""

    phrases_not_found: list[str] = field(default_factory=list)
    fields_not_found: list[str] = field(default_factory=list)
    phrases_ignored: list[str] = field(default_factory=list)
    quoted_not_found: list[str] = field(default_factory=list)


def tokens(term: str) -> list[Token]:
    found = []
    for quoted, tag, mark, word in _TOKEN.findall(term):
        if mark:
            found.append(Token(mark, mark))
        elif word:
            found.append(Token("operator" if word in _OPERATORS else "word", word))
        elif tag.strip():
            found.append(Token("tag", tag))
        elif quoted.strip():
            found.append(Token("quoted", quoted))
    return found


class Search:
    """One term against one catalogue. `sets` are the numbered results (`#1`) of the caller's history."""

    def __init__(self, catalogue: Catalogue, sets: dict[int, Pmids] | None = None) -> None:
        self.catalogue = catalogue
        self.sets = sets or {}
        self.notes = Notes()
        self._tokens: list[Token] = []

    def run(self, term: str) -> Found:
        """SearchBackendFailed if brackets do not match."""
        self._tokens = tokens(term)
        found = self._expression()
        if self._tokens:
            raise SearchBackendFailed(f"unexpected {self._tokens[0].text}")
        return Found(found.pmids or frozenset(), found.translation)

    def _peek(self) -> str:
        return self._tokens[0].kind if self._tokens else ""

    def _take(self) -> Token:
        return self._tokens.pop(0)

    def _expression(self) -> Found:
        found = None
        while self._peek() not in ("", ")"):
            operator = self._take().text if self._peek() == "operator" else "AND"
            if operator == "AND" and self._peek() == "operator":
                self._take()
                return combined(found, "AND", Found(frozenset(), f"NOT {self._operand().translation}"))
            if operator == "NOT" and found is None:
                found = Found(self.catalogue.everything, "all[Filter]")
            operand = self._operand()
            found = operand if found is None else combined(found, operator, operand)
        if found is None:
            raise SearchBackendFailed("nothing between brackets")
        return found

    def _operand(self) -> Found:
        if self._peek() == "(":
            self._take()
            inner = self._expression()
            if self._peek() != ")":
                raise SearchBackendFailed("brackets do not match")
            self._take()
            return Found(inner.pmids, f"({inner.translation})" if inner.translation else "")
        if self._peek() not in ("word", "quoted"):
            raise SearchBackendFailed("an operator without a term")
        first = self._take()
        if self._peek() == ":" or (self._peek() == "tag" and [t.kind for t in self._tokens[1:2]] == [":"]):
            return self._range(first)
        if first.kind == "quoted":
            return self._tagged(first.text, quoted=True)
        return self._words(first)

    def _range(self, first: Token) -> Found:
        tag = self._take().text if self._peek() == "tag" else ""
        self._take()
        if self._peek() not in ("word", "quoted"):
            raise SearchBackendFailed("a range without an end")
        last = self._take()
        tag = self._take().text if self._peek() == "tag" else tag
        chosen = field_of(tag)
        if chosen and chosen.how == "uid" and first.text.isdigit() and last.text.isdigit():
            low, high = int(first.text), int(last.text)
            pmids = self.catalogue.matching((low, high), lambda record: low <= record.pmid <= high)
            return Found(pmids, f"{low}:{high}[UID]")
        start, end = days.span(first.text), days.span(last.text)
        if not chosen or chosen.how != "day" or not start or not end:
            return self._dropped(f"{first.text}:{last.text}[{tag}]" if tag else f"{first.text}:{last.text}")
        pmids = self.catalogue.between(chosen.kind, start[0], end[1])
        return Found(pmids, f"{first.text}:{last.text}[{chosen.name}]")

    def _words(self, first: Token) -> Found:
        words = [first.text]
        while self._peek() == "word" and [token.kind for token in self._tokens[1:2]] != [":"]:
            words.append(self._take().text)
        if self._peek() == "tag":
            return self._tagged(" ".join(words), quoted=False)
        return self._each(words, ALL)

    def _tagged(self, phrase: str, quoted: bool) -> Found:
        chosen = self._field()
        found = self._look_up(phrase, chosen)
        if found or (found is not None and phrase.lower() in _INDEXED):
            return Found(found, f'"{phrase}"[{chosen.name}]')
        if len(phrase.split()) > 1 and chosen.how == "words":
            if quoted:
                self.notes.quoted_not_found.append(f'"{phrase}"')
            return self._each(phrase.split(), chosen)
        if found is not None and chosen.how in ("day", "uid"):
            return Found(found, f'"{phrase}"[{chosen.name}]')
        return self._dropped(phrase if chosen is ALL else f"{phrase}[{chosen.name}]")

    def _field(self) -> Field:
        """The field of the tag that comes next; All Fields without one, or (with a note) if nobody knows it."""
        if self._peek() != "tag":
            return ALL
        tag = self._take().text
        chosen = field_of(tag)
        if chosen is None:
            self.notes.fields_not_found.append(tag)
        return chosen or ALL

    def _each(self, words: list[str], chosen: Field) -> Found:
        found = None
        for word in words:
            if word.lower() in _STOP_WORDS:
                self.notes.phrases_ignored.append(word)
                continue
            operand = self._single(word, chosen)
            found = operand if found is None else combined(found, "AND", operand)
        return found or Found(None, "")

    def _single(self, word: str, chosen: Field) -> Found:
        if word.startswith("#") and word[1:].isdigit() and int(word[1:]) in self.sets:
            return Found(self.sets[int(word[1:])], word)
        if chosen is ALL and word.lower() == "hasabstract":
            chosen = FILTER
        found = self._look_up(word, chosen)
        if found or (found is not None and word.lower() in _INDEXED):
            return Found(found, f'"{word}"[{chosen.name}]')
        return self._dropped(word)

    def _look_up(self, phrase: str, chosen: Field) -> Pmids | None:
        """PMIDs; None when the phrase cannot be a value of the field (a date that is none, an unknown filter)."""
        if chosen.how == "day":
            covered = days.span(phrase)
            return self.catalogue.between(chosen.kind, *covered) if covered else None
        if chosen.how == "uid":
            wanted = {int(word) for word in re.split(r"[\s,]+", phrase) if word.isdigit()}
            return frozenset(pmid for pmid in wanted if self.catalogue.get(pmid))
        test = filter_of(phrase) if chosen.how == "filter" else matcher(chosen, phrase)
        return self.catalogue.matching((chosen.name, phrase.lower()), test) if test else None

    def _dropped(self, phrase: str) -> Found:
        self.notes.phrases_not_found.append(phrase)
        return Found(None, "")


def combined(left: Found | None, operator: str, right: Found) -> Found:
    """Both, either, or the first without the second; a dropped term leaves the other as it is."""
    if left is None or left.pmids is None:
        return right if operator != "NOT" else Found(None, "")
    if right.pmids is None:
        return left
    a, b = left.pmids, right.pmids
    pmids = a & b if operator == "AND" else a | b if operator == "OR" else a - b
    return Found(pmids, f"{left.translation} {operator} {right.translation}")

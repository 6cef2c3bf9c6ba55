"""What of a reference its record confirms, and what differs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bio_mcp.literature.citing.imprint import Span, spans
from bio_mcp.literature.citing.works import journal_title, plain_title
from bio_mcp.literature.identifiers import doi, normal, pmcid
from bio_mcp.literature.records import Article, Author, Journal
from bio_mcp.literature.references.works import (
    SMALL,
    CitedWork,
    aligned,
    alike,
    folded,
    ids_in,
    plain,
    words_of,
)

_ALIKE = 0.4  # share of the words of a title that the other must have, to be compared word by word
_ARTICLES = frozenset(("a", "an", "the"))
_WHOLE = 4  # words of a title whose subtitle may be left out
_MOST = 80  # words of a title that are compared
_TRIED = 20  # places in a text where a title may begin
_MARKS = (
    ("retracted", "article"),
    ("retracted",),
    ("withdrawn",),
    ("correction", "to"),
    ("correction",),
    ("expression", "of", "concern"),
)


def same_title(stated: str, printed: str) -> bool | None:
    """Whether they are one title; None where either has no words.

    Accents, case, punctuation, Greek letters, a mistyped letter, articles and prepositions do not count. A subtitle may
    be left out. Titles of which one has a word that the other lacks are not the same.
    """
    ours, theirs = (_unmarked(words_of(each)[:_MOST]) for each in (stated, printed))
    if not ours or not theirs:
        return None
    return _agree_whole(ours, theirs) or (
        len(ours) >= _WHOLE and any(_agree_whole(ours, each) for each in _heads(printed) if len(each) >= _WHOLE)
    )


_SUBTITLES = 8  # of a title that are looked for
_SUBTITLE = re.compile(r"[:.?!;](?=\s)|\s[-‐‑–—−]\s|—|--|[(\[](?=[^()\[\]]{0,200}[)\]]\W{0,3}$)")


def _heads(title: str) -> Iterator[tuple[str, ...]]:
    """The words of the title without its subtitles: up to each mark that may begin one."""
    for mark in islice(_SUBTITLE.finditer(title), _SUBTITLES):
        yield _unmarked(words_of(title[: mark.start()])[:_MOST])


def contains_title(text: str, printed: str) -> bool | None:
    """Whether running text has the title in it, by the same rules; None for a title of less than four words."""
    whole, title = words_of(text), _unmarked(words_of(printed)[:_MOST])
    if len(title) < _WHOLE:
        return None
    if not _share_words(title, whole):
        return False
    places = [place for place, word in enumerate(whole) if any(_begins(word, each) for each in title[:3])][:_TRIED]
    windows = (whole[at : at + _reach(whole[at:], title)] for at in places)
    return any(_has_edges(each, title) and _agree_whole(each, title) for each in windows)


def _reach(words: Sequence[str], title: Sequence[str]) -> int:
    """How many of `words` the title takes: up to the place, near its length, of its last word."""
    most = min(len(words), len(title) + len(title) // 4 + 2)
    last = next((word for word in reversed(title) if word not in SMALL), title[-1])
    ends = [place + 1 for place in range(most) if _ends(words[place], last)]
    return min(ends, key=lambda end: abs(end - len(title)), default=0)


def _has_edges(words: Sequence[str], title: Sequence[str]) -> bool:
    """Whether the first and the last word that count are the title's: beside them stands other text."""
    ours, theirs = ([word for word in side if word not in SMALL] for side in (words, title))
    return bool(ours and theirs) and _begins(ours[0], theirs[0]) and _ends(ours[-1], theirs[-1])


def _begins(one: str, other: str) -> bool:
    """Whether the words are one, or one is the first part of the other, which is written in one."""
    return alike(one, other) or (min(len(one), len(other)) > 1 and (one.startswith(other) or other.startswith(one)))


def _ends(one: str, other: str) -> bool:
    return _begins(one[::-1], other[::-1])


def _agree_whole(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    if not _share_words(*sorted((ours, theirs), key=len)):
        return False
    return all(_says_the_same(*each) for each in aligned(ours, theirs))


def _says_the_same(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two titles may differ so: in small words that one lacks, or in an article."""
    return SMALL.issuperset((*left, *right)) and not (set(left) - _ARTICLES and set(right) - _ARTICLES)


_SHOWN = 5  # places of two titles


def differing_words(stated: str, printed: str) -> str:
    """Which words differ between titles that have most words in common, as `lacks “female and”`; "" for other titles.

    The words are as each title spells them.
    """
    ours, theirs = (_unmarked(words_of(each)[:_MOST]) for each in (stated, printed))
    pairs = [each for each in aligned(ours, theirs) if not _says_the_same(*each)]
    if 2 * max(sum(len(left) for left, _ in pairs), sum(len(right) for _, right in pairs)) > len(theirs):
        return ""
    named = []
    for left, right in pairs[:_SHOWN]:
        has, lacks = _spelled(left, stated), _spelled(right, printed)
        named.append(f"has {has} for {lacks}" if left and right else f"lacks {lacks}" if right else f"adds {has}")
    return "; ".join((*named, "…") if len(pairs) > _SHOWN else named)


def _spelled(words: Sequence[str], title: str) -> str:
    """The words in quotation marks, as the title has them."""
    spelling = {word: each for each in title.split() for word in words_of(each)}
    tokens = [spelling[each].strip(",;:.?!()[]") for each in words]
    return f"“{' '.join(token for place, token in enumerate(tokens) if token not in tokens[:place][-1:])}”"


def _share_words(ours: Sequence[str], theirs: Sequence[str]) -> bool:
    wanted = set(map(plain, ours))
    return len(wanted.intersection(map(plain, theirs))) >= _ALIKE * len(wanted)


def _unmarked(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without what NLM and publishers put before the title of a retracted paper."""
    for mark in _MARKS:
        if words[: len(mark)] == mark:
            return words[len(mark) :]
    return words


_SMALL = frozenset(
    "of the and in for on de la le les des du et der die das und fur e di del y do da a an to von van i".split()
)
_PLACE = re.compile(r"\s*\([^()]*\)")
_FIRST = re.compile(r"^\W*(\w*)")
_VOWELS = re.compile("[aeiou]")
_COUNTRIES = {"usa": "united states america", "us": "united states", "uk": "united kingdom"}
_KNOWN = {"pnas": "proceedings national academy sciences united states america", "nejm": "new england journal medicine"}


def same_journal(stated: str, journal: Journal | None) -> bool | None:
    """Whether `stated` can name the journal; None where either side has no name.

    Abbreviations compare by the beginnings of words, in order; places in brackets and subtitles do not count.
    """
    ours = _words(stated)
    names = (journal.title, journal.iso_abbreviation, journal.medline_abbreviation) if journal else ()
    printed = [words for name in names if name and (words := _words(name))]
    if not ours or not printed:
        return None
    return any(_can_be(ours, theirs) or _can_be(theirs, ours) for theirs in printed) or _initials(ours, printed, names)


def _words(name: str) -> list[str]:
    bare = _PLACE.sub("", name).partition(" : ")[0].partition("=")[0]
    spoken = " ".join(_COUNTRIES.get(word, word) for word in words_of(bare))
    words = [word for word in spoken.split() if word not in _SMALL]
    return _KNOWN.get(words[0], words[0]).split() if len(words) == 1 else words


def _can_be(short: list[str], long: list[str]) -> bool:
    """Whether each word of `short` begins, or shortens, a word of `long`, in order and from its first."""
    at = 0
    for place, word in enumerate(short):
        found = next((i for i in range(at, len(long)) if _shortens(word, long[i])), None)
        if found is None or (place == 0 and found != 0):
            return False
        at = found + 1
    return len(short) > 1 or len(long) <= 2 or at == len(long)


def _shortens(word: str, whole: str) -> bool:
    if whole.startswith(word) or alike(word, whole):
        return True
    if plain(whole).startswith(plain(word)):
        return True
    letters = iter(whole)
    contracted = len(word) > 2 and word[0] == whole[0] and all(letter in letters for letter in word)
    return contracted and (whole.endswith(word[-1]) or _VOWELS.sub("", whole).startswith(_VOWELS.sub("", word)))


def _initials(ours: list[str], printed: list[list[str]], names: Iterable[str | None]) -> bool:
    """`JACC` or `AJNR`: the initials of a name, or the capitals with which a name itself begins."""
    if len(ours) != 1 or len(ours[0]) < 3:
        return False
    capitals = {word.casefold() for name in names if name and (word := _FIRST.findall(name)[0]).isupper()}
    return ours[0] in capitals or any("".join(each[0] for each in theirs).startswith(ours[0]) for theirs in printed)


COMPARED = 30  # authors of a reference
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,5}")
_RANKS = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th"))


def differing_author(work: CitedWork, article: Article) -> tuple[str, str] | None:
    """The first author that is not the record's: as stated, and who is right; None where all are.

    The first one stated must be the record's first, or the group that signs it; each further one any of its authors.
    """
    people = [author for author in article.authors if author.valid] or list(article.authors)
    names = [_forms(each) for each in people]
    for place, stated in enumerate(work.authors[:COMPARED]):
        near = names[:1] + [forms for author, forms in zip(people, names, strict=True) if author.collective_name]
        among = near if place == 0 else names
        if not any(_is_named(stated, forms) for forms in among):
            if place and not article.authors_complete:
                continue
            right = people[place : place + 1] if place < len(people) else people[:6]
            return stated, ", ".join(each.short_name for each in right)
    return None


def _forms(author: Author) -> list[str]:
    """Family names as others write them: whole, and its last and first part."""
    name = _letters(author.collective_name or author.last_name or author.fore_name or "")
    parts = name.split()
    return list(dict.fromkeys(filter(None, (name, *(parts[-1:] if not author.collective_name else ()), *parts[:1]))))


def _is_named(stated: str, forms: list[str]) -> bool:
    """Whether the name as stated has one of these family names, before or after the given names."""
    whole = [word for word in _letters(stated).split() if word not in _RANKS]
    family = _letters(stated.partition(",")[0])
    longest = forms[0] if forms else ""
    spans = [(start, end) for start in range(len(whole)) for end in range(start + 2, len(whole) + 1)]
    candidates = {family, *whole, " ".join(whole), *(" ".join(whole[start:end]) for start, end in spans[:40])}
    return any(
        alike(form, each) or form.replace(" ", "") == each.replace(" ", "")
        for form in forms
        for each in candidates
        if len(each) > 1 or each == longest
    ) or (len(longest) > 12 and longest.split()[:2] == whole[:2])


def _letters(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", folded(re.sub(r"[’'`´ʼ]", "", text))))


MINOR = frozenset({"issue"})  # a difference that makes no reference doubtful
_IMPRINT = ("journal", "year", "volume", "pages", "authors")
_ENOUGH = 4  # of these, where a reference states no title
_PAGE = re.compile(r"^([a-z]*)\W*0*(.*)$")  # its letter, and its number
_YEARS = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


@dataclass(frozen=True, slots=True)
class Difference:
    """A field, what the reference states, and what is right; of a title that is nearly right, `words` that differ."""

    field: str
    stated: str
    true: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The fields that agree and those that differ; one that either side lacks is in neither."""

    agrees: tuple[str, ...] = ()
    differs: tuple[Difference, ...] = ()
    by_number: bool = False

    @property
    def serious(self) -> tuple[Difference, ...]:
        return tuple(each for each in self.differs if each.field not in MINOR)

    @property
    def confirms(self) -> bool:
        """Whether the reference is this work's: nothing serious differs, and what agrees is enough to name one work.

        That is its title and more, an id and more, or the whole imprint, or of it journal, year, and an article number
        of five figures, which no other article of the journal has.
        """
        if self.serious:
            return False
        fields, ids = set(self.agrees), {"pmid", "doi", "pmcid"} & set(self.agrees)
        if "title" in fields or ids:
            return len(fields) > 1 or bool(ids)
        numbered = self.by_number and {"journal", "year"} <= fields
        return "pages" in fields and (len(fields.intersection(_IMPRINT)) >= _ENOUGH or numbered)

    @property
    def score(self) -> float:
        differs = {each.field for each in self.serious}
        worth = {"title": 5.0, "pmid": 1.5, "doi": 2.0, "pmcid": 1.5, "pages": 1.5}
        return sum(worth.get(each, 1.0) for each in self.agrees) - sum(worth.get(each, 1.0) for each in differs) / 2

    @property
    def is_near(self) -> bool:
        """Whether the reference may mean this work although something differs."""
        fields = set(self.agrees)
        by_imprint = len(fields.intersection(_IMPRINT)) >= 3 and bool(fields & {"pages", "authors"})
        return bool(fields & {"title", "pmid", "doi", "pmcid"}) or by_imprint


def compare(work: CitedWork, article: Article) -> Comparison:
    """Compare each field that both have. Fields of a reference in plain text are guesses, so its title is looked for in
    the whole text."""
    journal = article.journal or Journal()
    ids = (
        ("pmid", work.pmid, article.pmid),
        ("doi", work.doi, normal(doi, article.doi) or ""),
        ("pmcid", work.pmcid, normal(pmcid, article.pmcid) or ""),
    )
    different = differing_author(work, article)
    years = _years(article)
    name = journal_title(journal.title or journal.medline_abbreviation or "")
    volume, issue, pages = journal.volume or "", journal.issue or "", article.pages or ""
    checks = (
        *((kind, stated == true if stated and true else None, stated, true) for kind, stated, true in ids),
        ("title", _same_titles(work, article), work.title, plain_title(article.title)),
        ("authors", not different if work.authors and article.authors else None, *(different or ("", ""))),
        ("journal", _same_journal(work, article), work.journal, name),
        ("year", work.year in years if work.year and years else None, work.year, years[0] if years else ""),
        ("volume", _same_volume(work.volume, volume), work.volume, volume),
        ("issue", _same_issue(work.issue, issue), work.issue, issue),
        ("pages", _same_pages(work.pages, pages), work.pages, pages),
    )
    return Comparison(
        agrees=tuple(field for field, same, _, _ in checks if same),
        differs=tuple(
            _difference(work, article, field, stated, true) for field, same, stated, true in checks if same is False
        ),
        by_number=bool(re.search(r"\d{5}", work.pages.partition("-")[0])),
    )


def _difference(work: CitedWork, article: Article, field: str, stated: str, true: str) -> Difference:
    if field != "title":
        return Difference(field, stated, true)
    words = differing_words(stated, true)
    if not words and work.text:  # the guess was none
        stated = _nearest(work.text, article) or stated
        words = differing_words(stated, true)
    return Difference(field, stated, true, words)


def _same_titles(work: CitedWork, article: Article) -> bool | None:
    of_book = article.book.title if article.book else None
    printed = [each for each in (article.title, article.vernacular_title, of_book) if each]
    found = [same_title(work.title, each) for each in printed]
    if work.text and not any(found):
        found = [contains_title(work.text, each) for each in printed]
        found = found if work.title or _nearest(work.text, article) else [each or None for each in found]
    return True if any(found) else None if all(each is None for each in found) else False


_MOSTLY = 0.7  # of the words of a title


def _nearest(text: str, article: Article) -> str:
    """The part of running text that has most of the words of the record's title; "" where none has."""
    wanted = {plain(word) for word in words_of(article.title or "")[:_MOST] if word not in SMALL}
    if len(wanted) < _WHOLE:
        return ""
    tokens = text.split()
    has = [wanted.intersection(map(plain, words_of(each))) for each in tokens]
    reach = min(_MOST, len((article.title or "").split())) + 2
    starts = [place for place, each in enumerate(has) if each]
    best = max(starts, key=lambda start: len(set().union(*has[start : start + reach])), default=0)
    within = has[best : best + reach]
    if len(set().union(*within)) < _MOSTLY * len(wanted):
        return ""
    end = max(place for place, each in enumerate(within) if each)
    return " ".join(tokens[best : best + end + 1])


def _same_journal(work: CitedWork, article: Article) -> bool | None:
    """Also where plain text has the journal's name or abbreviation behind the title, in no id and no address, when its
    place was guessed wrongly."""
    same, journal = same_journal(work.journal, article.journal), article.journal
    if same is not False or not work.text or not journal:
        return same
    text, title = (f" {' '.join(words_of(each))} " for each in (ids_in(work.text)[3], article.title or ""))
    behind = text.partition(title)[2] and f" {text.partition(title)[2]}"
    names = (journal.medline_abbreviation, journal_title(journal.title or ""))
    return any(f" {' '.join(words_of(name))} " in (behind or text) for name in names if name)


def _years(article: Article) -> list[str]:
    dates = (article.publication_date, article.electronic_date, article.book and article.book.contribution_date)
    return [year for date in dates if date for year in _YEARS.findall(f"{date.text} {date.iso or ''}")]


def _same_volume(stated: str, printed: str) -> bool | None:
    ours, theirs = re.findall(r"\w+", stated.casefold()), re.findall(r"\w+", printed.casefold())
    if not ours or not theirs:
        return None
    return bool(ours[0].lstrip("0") == theirs[0].lstrip("0") or _roman(ours[0]) == _roman(theirs[0]) != 0)


def _roman(text: str) -> int:
    values = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
    if not text or set(text) - set(values):
        return int(text) if text.isdecimal() else 0
    numbers = [values[letter] for letter in text]
    return sum(-a if a < b else a for a, b in zip(numbers, [*numbers[1:], 0], strict=True))


def _same_issue(stated: str, printed: str) -> bool | None:
    ours, theirs = re.findall(r"\d+", stated), re.findall(r"\d+", printed)
    return bool(ours[0] == theirs[0]) if ours and theirs else None


def _same_pages(stated: str, printed: str) -> bool | None:
    """Whether the first page is the same, and the last where both state it."""
    ours, theirs = _span(stated), _span(printed)
    if not ours.first or not theirs.first:
        return None
    ends_alike = not ours.last or not theirs.last or _same_page(ours.last, theirs.last)
    return _same_page(ours.first, theirs.first) and ends_alike


def _span(text: str) -> Span:
    found = spans(re.sub(r"[–—‐‑−]+|--+", "-", re.sub(r"\.e\d+$", "", text.strip())))
    return found[0] if found else Span("")


def _same_page(one: str, other: str) -> bool:
    """Whether two pages are equal, but for leading zeros and for a letter that only one of them has in front."""
    (a, first), (b, second) = (_PAGE.findall(each.casefold().strip())[0] for each in (one, other))
    return first == second and (a == b or not a or not b)

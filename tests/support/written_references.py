"""Records written as references by people and programs, with their habits; and references made wrong.

The styles follow reference lists of real papers. None of this uses the product's own citation styles.
"""

import html
import json
import random
import re
import unicodedata
from dataclasses import dataclass, replace

from bio_mcp.literature.records import Article

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


@dataclass(frozen=True)
class Cited:
    """What a writer has in hand. `people` are (family, given names, initials)."""

    pmid: str
    people: tuple[tuple[str, str, str], ...]
    title: str
    journal: str
    abbreviation: str
    year: str
    volume: str
    issue: str
    first: str
    last: str
    doi: str
    complete: bool = True


def cited_of(article: Article) -> Cited | None:
    """None for a record that nobody could cite by its fields: no author, title, year or journal."""
    journal, printed = article.journal, article.publication_date
    people = tuple(
        (each.last_name, each.fore_name or each.initials or "", (each.initials or "")[:3])
        for each in article.authors
        if each.last_name and each.valid and not each.collective_name
    )
    first = article.authors[0] if article.authors else None
    if not (journal and journal.title and journal.medline_abbreviation and people and first and first.last_name):
        return None
    title = (article.title or "").strip()
    title = re.sub(r"^\[(.*)\]\.?$", r"\1", title).rstrip(".")
    if not (printed and printed.year and len(title.split()) > 3) or article.book:
        return None
    start, _, end = re.split(r"[,;]", article.pages or "")[0].partition("-")
    if end and len(end) < len(start) and end.isdigit():
        end = start[: len(start) - len(end)] + end
    return Cited(
        article.pmid, people, title, re.sub(r"\s*\([^()]*\)$|\s[:=]\s.*", "", journal.title),
        journal.medline_abbreviation,
        str(printed.year), journal.volume or "", journal.issue or "", start, end, article.doi or "",
        article.authors_complete,
    )  # fmt: skip


class Writer:
    """Writes references. Equal seeds write the same."""

    def __init__(self, seed: int, *, titles_left_out: bool = True) -> None:
        self.rng = random.Random(seed)  # noqa: S311
        self.titles_left_out = titles_left_out

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def habits(self, work: Cited) -> Cited:
        """The same work as somebody with less care has it: without accents, in title case, with an error of typing."""
        if self.chance(0.15):
            work = replace(work, people=tuple(tuple(map(plain, each)) for each in work.people), title=plain(work.title))
        if self.chance(0.15):
            work = replace(work, title=" ".join(w[:1].upper() + w[1:] if len(w) > 3 else w for w in work.title.split()))
        if self.chance(0.05):
            work = replace(work, title=self.mistyped(work.title))
        if self.chance(0.04) and ": " in work.title:
            before = work.title.partition(": ")[0]
            work = replace(work, title=before) if len(before.split()) > 4 else work
        if self.chance(0.1):
            work = replace(work, issue="")
        if self.chance(0.2):
            work = replace(work, title=work.title.replace("'", "’").replace("-", "‐" if self.chance(0.2) else "-"))
        return work

    def mistyped(self, title: str) -> str:
        words = title.split()
        long = [place for place, word in enumerate(words) if word.isalpha() and len(word) > 6]
        if long:
            place = self.rng.choice(long)
            at = self.rng.randrange(2, len(words[place]) - 1)
            words[place] = words[place][:at] + words[place][at + 1 :]
        return " ".join(words)

    def ids(self, work: Cited, share: float = 0.35) -> str:
        """` doi:10...`, seldom a PMID, mostly nothing."""
        if work.doi and self.chance(share):
            return self.rng.choice(
                (" doi: {}.", " https://doi.org/{}", " doi:{}", " DOI: {}", " https://doi.org/{} .")
            ).format(work.doi)
        return f" PMID: {work.pmid}" if self.chance(0.05) else ""

    def pages(self, work: Cited, dash: str = "-") -> str:
        if not work.last:
            return work.first
        last = work.last
        if self.chance(0.4) and last.isdigit() and work.first.isdigit() and len(last) == len(work.first):
            last = last[next((i for i, (a, b) in enumerate(zip(work.first, last, strict=True)) if a != b), 0) :]
        return f"{work.first}{dash}{last}"

    def journal(self, work: Cited, abbreviated: float = 0.7) -> str:
        return work.abbreviation if self.chance(abbreviated) else work.journal

    def vancouver(self, work: Cited) -> str:
        dash = self.rng.choice("-–")
        issue = f"({work.issue})" if work.issue and self.chance(0.7) else ""
        gap = self.rng.choice(("", "", " "))
        pages = f":{gap}{self.pages(work, dash)}" if work.first else ""
        who = self.people(work, "{0} {2}", ", ", self.rng.choice((3, 6, 6, 60)), self.rng.choice((", et al", " et al")))
        where = f"{self.journal(work)}{self.rng.choice(('.', ''))} {work.year};{gap}{work.volume}{issue}{pages}."
        return f"{who}. {work.title}. {where}{self.ids(work)}"

    def apa(self, work: Cited) -> str:
        names = [f"{family}, {pointed(initials, ' ')}" for family, _, initials in work.people]
        if len(names) > 7 and self.chance(0.7):
            who = f"{', '.join(names[:6])}, {self.rng.choice(('…', '. . .', '...'))} {names[-1]}"
        else:
            who = (
                ", ".join(names[:-1]) + (f"{',' if self.chance(0.8) else ''} & " if len(names) > 1 else "") + names[-1]
            )
        issue = f"({work.issue})" if work.issue else ""
        where = ", ".join(
            filter(None, (work.journal, f"{work.volume}{issue}", self.pages(work, "–") if work.first else ""))
        )
        return f"{who} ({work.year}). {work.title}. {where}.{self.ids(work, 0.6)}"

    def springer(self, work: Cited) -> str:
        who = self.people(work, "{0} {2}", ", ", self.rng.choice((3, 6, 60)), " et al")
        issue = f"({work.issue})" if work.issue and self.chance(0.5) else ""
        numbers = f" {work.volume}{issue}:{self.pages(work, '–')}" if work.first and work.volume else ""
        where = f"{self.journal(work, 0.8)}{numbers}{'.' if not numbers else ''}"
        return f"{who} ({work.year}) {work.title}. {where}{self.ids(work, 0.5)}"

    def nature(self, work: Cited) -> str:
        names = [f"{family}, {pointed(initials, ' ')}" for family, _, initials in work.people]
        who = (
            f"{names[0]} et al."
            if len(names) > 5
            else ", ".join(names[:-1]) + (" & " if len(names) > 1 else "") + names[-1]
        )
        where = f"{dotted(work.abbreviation) if self.chance(0.7) else work.journal} {work.volume}"
        where += f", {self.pages(work, '–')}" if work.first else ""
        return f"{who} {work.title}. {where} ({work.year}).{self.ids(work, 0.3)}"

    def asm(self, work: Cited) -> str:
        who = self.people(work, "{0} {2}", ", ", 60, ", et al")
        numbers = f" {work.volume}:{self.pages(work, '–')}" if work.first and work.volume else ""
        return f"{who}. {work.year}. {work.title}. {work.abbreviation}{numbers}.{self.ids(work, 0.5)}"

    def elsevier(self, work: Cited) -> str:
        who = self.people(work, "{1} {0}", ", ", 8, ", et al.", points=True)
        pages = f" {self.pages(work, '–')}" if work.first else ""
        return (
            f"{who}, {work.title}, {dotted(work.abbreviation)} {work.volume} ({work.year}){pages}.{self.ids(work, 0.5)}"
        )

    def ama(self, work: Cited) -> str:
        who = self.people(work, "{0} {2}", ", ", 3 if len(work.people) > 6 else 6, ", et al")
        issue = f"({work.issue})" if work.issue else ""
        pages = f":{self.pages(work)}" if work.first else ""
        return (
            f"{who}. {work.title}. {work.abbreviation}. {work.year};{work.volume}{issue}{pages}.{self.ids(work, 0.5)}"
        )

    def chemistry(self, work: Cited) -> str:
        """No title, as in chemistry."""
        who = self.people(work, "{1} {0}", ", ", 60, ", et al.", points=True)
        return f"{who}, {dotted(work.abbreviation)} {work.year}, {work.volume}, {self.pages(work)}."

    def people(self, work: Cited, form: str, between: str, most: int, more: str, *, points: bool = False) -> str:
        names = [
            form.format(family, pointed(initials, " "), initials) if points else form.format(family, given, initials)
            for family, given, initials in work.people
        ]
        return between.join(names[:most]) + (more if len(names) > most or not work.complete else "")

    PLAIN = (*("vancouver",) * 2, *("apa",) * 2, *("springer",) * 2, "nature", "asm", "elsevier", "ama", "chemistry")

    def plain_text(self, work: Cited) -> str:
        styles = [
            each for each in self.PLAIN if each != "chemistry" or (work.first and work.volume and self.titles_left_out)
        ]
        return getattr(self, self.rng.choice(styles))(self.habits(work))

    def bibtex(self, work: Cited) -> str:
        work = self.habits(work)
        names = " and ".join(
            f"{family}, {given}" if self.chance(0.8) else f"{given} {family}" for family, given, _ in work.people
        )
        fields = {
            "author": tex(names), "title": f"{{{tex(work.title)}}}" if self.chance(0.5) else tex(work.title),
            "journal": tex(self.journal(work, 0.3)), "year": work.year, "volume": work.volume, "number": work.issue,
            "pages": self.pages(work, "--"), "doi": work.doi if self.chance(0.6) else "",
            "pmid": work.pmid if self.chance(0.15) else "",
        }  # fmt: skip
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items() if value)
        return (
            f"@article{{{re.sub('[^a-z]', '', plain(work.people[0][0]).lower())}{work.year}_{work.pmid},\n{body}\n}}\n"
        )

    def ris(self, work: Cited) -> str:
        work = self.habits(work)
        lines = [
            ("TY", "JOUR"),
            *(("AU", f"{family}, {given}") for family, given, _ in work.people),
            ("TI", work.title),
        ]
        lines += [
            (self.rng.choice(("JO", "T2", "JF")), self.journal(work, 0.4)),
            ("PY", work.year),
            ("VL", work.volume),
        ]
        lines += [("IS", work.issue), ("SP", work.first), ("EP", work.last)]
        lines += [("DO", work.doi if self.chance(0.5) else "")]
        return "".join(f"{tag}  - {value}\n" for tag, value in lines if value) + "ER  - \n\n"

    def nbib(self, work: Cited) -> str:
        work = self.habits(work)
        lines = [
            ("PMID", work.pmid if self.chance(0.5) else ""),
            ("VI", work.volume),
            ("IP", work.issue),
            ("DP", work.year),
        ]
        lines += [
            ("TI", f"{work.title}."),
            ("PG", self.pages(work)),
            *(("AU", f"{family} {initials}") for family, _, initials in work.people),
        ]
        lines += [
            ("TA", work.abbreviation),
            ("JT", work.journal),
            ("AID", f"{work.doi} [doi]" if work.doi and self.chance(0.5) else ""),
        ]
        return "".join(f"{tag:<4}- {value}\n" for tag, value in lines if value) + "\n"

    def csl(self, work: Cited) -> str:
        work = self.habits(work)
        item = {
            "id": work.pmid, "type": "article-journal", "title": work.title, "container-title": self.journal(work, 0.3),
            "author": [{"family": family, "given": given} for family, given, _ in work.people],
            "issued": {"date-parts": [[int(work.year)]]}, "volume": work.volume, "issue": work.issue,
            "page": self.pages(work), "DOI": work.doi if self.chance(0.5) else "",
        }  # fmt: skip
        return json.dumps({name: value for name, value in item.items() if value}, ensure_ascii=False)


FORMATS = ("plain_text", "plain_text", "plain_text", "bibtex", "ris", "nbib", "csl")
ALTERATIONS = ("year", "author", "title", "page", "word", "gap", "journal", "invented")


def altered(work: Cited, others: list[Cited], kind: str, rng: random.Random) -> Cited | None:
    """The work with one field exchanged; None where it lacks the field. invented: a paper that does not exist."""
    other = rng.choice(others)
    if kind == "year":
        near = [str(int(work.year) + step) for step in (-9, -4, -3, -2, 2, 3, 4, 9)]
        return replace(work, year=rng.choice(near))
    if kind == "author":
        names = {family for family, _, _ in work.people}
        strangers = [each for each in other.people if each[0] not in names]
        return replace(work, people=(strangers[0], *work.people[1:])) if strangers else None
    if kind == "title":
        return replace(work, title=other.title)
    if kind == "page":
        if not work.first.isdigit():
            return None
        by = rng.choice((7, 30, 113, 400))
        return replace(
            work, first=str(int(work.first) + by), last=str(int(work.last) + by) if work.last.isdigit() else work.last
        )
    if kind in ("word", "gap"):
        return _with_other_word(work, other, rng) if kind == "word" else _without_a_word(work, rng)
    if kind == "journal":
        apart = other.journal.casefold()[:4] != work.journal.casefold()[:4]
        return replace(work, journal=other.journal, abbreviation=other.abbreviation) if apart else None
    third = rng.choice(others)
    half = len(work.title.split()) // 2
    title = " ".join((*work.title.split()[:half], *other.title.split()[len(other.title.split()) // 2 :]))
    numbers = {
        "volume": str(rng.randrange(1, 90)),
        "first": str(rng.randrange(1, 2000)),
        "last": "",
        "doi": "",
        "pmid": "0",
    }
    return replace(
        third, title=title, people=other.people[:3] or work.people, year=str(rng.randrange(1995, 2021)), **numbers
    )


def _with_other_word(work: Cited, other: Cited, rng: random.Random) -> Cited | None:
    """The title with one long word exchanged, as a drug for another."""
    words = work.title.split()
    places = [place for place, word in enumerate(words) if word.isalpha() and len(word) > 5]
    strange = [
        word
        for word in other.title.split()
        if word.isalpha() and len(word) > 5 and word[:4].lower() not in work.title.lower()
    ]
    if not (places and strange and len(words) > 5):
        return None
    words[rng.choice(places)] = rng.choice(strange)
    return replace(work, title=" ".join(words))


def _without_a_word(work: Cited, rng: random.Random) -> Cited | None:
    """The title without one long word that stands between two plain ones."""
    words = work.title.split()
    places = [
        place
        for place in range(1, len(words) - 1)
        if len(words[place]) > 5 and all(each.isascii() and each.isalpha() for each in words[place - 1 : place + 2])
    ]
    if not places or len(words) <= 5:
        return None
    place = rng.choice(places)
    return replace(work, title=" ".join((*words[:place], *words[place + 1 :])))


def plain(text: str) -> str:
    return "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))


def pointed(initials: str, between: str) -> str:
    return between.join(f"{each}." for each in initials)


def dotted(abbreviation: str) -> str:
    """`J Clin Oncol` as `J. Clin. Oncol.`"""
    return " ".join(word if word.isupper() and len(word) > 1 else f"{word}." for word in abbreviation.split())


TEX = {
    "ä": '{\\"a}', "ö": '{\\"o}', "ü": '{\\"u}', "é": "{\\'e}", "è": "{\\`e}", "ñ": "{\\~n}", "ç": "{\\c c}",
    "ø": "{\\o}", "š": "{\\v s}", "á": "{\\'a}", "í": "{\\'\\i}", "ó": "{\\'o}", "&": "\\&", "%": "\\%",
    "α": "$\\alpha$", "β": "$\\beta$", "–": "--",
}  # fmt: skip


def tex(text: str) -> str:
    return "".join(TEX.get(each, each) for each in html.unescape(text))

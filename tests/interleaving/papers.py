"""What NLM says of a few papers, in its files and in PubMed, and how it is told; and what the corpus must be then."""

import gzip
import io
import re
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from bio_mcp.literature.medline import parse
from bio_mcp.ports.ncbi import SearchPage, Summaries

CONTROL = "90"  # a paper that PubMed always has
RECORD = (
    '<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID><DateRevised><Year>{year}</Year>'
    "<Month>01</Month><Day>01</Day></DateRevised><Article><ArticleTitle>Paper {pmid} of {year}.</ArticleTitle>"
    "<Abstract><AbstractText>Words of {pmid} in {year}.</AbstractText></Abstract></Article></MedlineCitation>"
    "<PubmedData><History>{came}</History></PubmedData></PubmedArticle>"
)
CAME = date(2026, 2, 1)
DAY = '<PubMedPubDate PubStatus="{}"><Year>2026</Year><Month>02</Month><Day>01</Day></PubMedPubDate>'
RECORD = RECORD.replace("{came}", DAY.format("pubmed") + DAY.format("entrez"))


@dataclass(frozen=True)
class Revision:
    """A record of a paper as it was revised in a year."""

    pmid: str
    year: int
    version: int = 1

    @property
    def xml(self):
        return RECORD.format(pmid=self.pmid, year=self.year, version=self.version)

    @property
    def title(self):
        return f"Paper {self.pmid} of {self.year}."


@dataclass(frozen=True)
class Removal:
    """A DeleteCitation of a version."""

    pmid: str
    version: int = 1


@lru_cache(None)
def article_of(revision):
    [article] = parse(io.BytesIO(f"<PubmedArticleSet>{revision.xml}</PubmedArticleSet>".encode()))
    return article


def history(random, pmid):
    """A history of a paper in three files: the records that each has of it."""
    first, second, third = (Revision(pmid, year) for year in (2010, 2015, 2020))
    gone = Removal(pmid)
    return random.choice(
        [
            [[first], [], []],
            [[], [first], []],
            [[], [], [first]],
            [[first], [second], []],
            [[first], [second], [third]],
            [[second], [first], []],  # an older revision in a later file
            [[second, first], [], []],
            [[first, second], [], [third]],
            [[first], [gone], []],
            [[first], [], [gone]],
            [[first], [second], [gone]],
            [[first, gone], [], []],
            [[first], [gone], [second]],
            [[first], [gone], [first]],
            [[first], [replace(second, version=2)], [gone]],
            [[first], [replace(second, version=2), gone], []],
            [[replace(second, version=2)], [gone], []],
            [[first], [replace(second, version=2)], [Removal(pmid, 2)]],
        ]
    )


def folded(records, stands=None):
    """What stands of a paper after these records, in their order."""
    for each in records:
        if isinstance(each, Removal):
            stands = None if stands and stands.version <= each.version else stands
        elif stands is None or (each.version, each.year) >= (stands.version, stands.year):
            stands = each
    return stands


def file_of(records):
    """The content of a file: the records, then the deletions."""
    revisions = "".join(each.xml for each in records if isinstance(each, Revision))
    gone = "".join(
        f'<PMID Version="{each.version}">{each.pmid}</PMID>' for each in records if isinstance(each, Removal)
    )
    end = f"<DeleteCitation>{gone}</DeleteCitation>" if gone else ""
    return gzip.compress(f"<PubmedArticleSet>{revisions}{end}</PubmedArticleSet>".encode(), 1, mtime=0)


def counted(records):
    """What a report counts of a file: the records, and the papers that it inserts, updates or skips."""
    left = {each.pmid for each in records if isinstance(each, Revision)}
    left -= {
        each.pmid
        for each in records
        if isinstance(each, Removal) and folded(r for r in records if r.pmid == each.pmid) is None
    }
    return len(records), len(left)


RANGE = re.compile(r'\("(\S+)"\[(\w+)\] : "(\S+)"\[\w+\]\)')


class PubMed:
    """PubMed as it is now: PMID -> a revision. All came on one day; `changed` has the day of the last change."""

    def __init__(self, clock, there):
        self.clock, self.there, self.changed = clock, there, {}

    def becomes(self, there):
        """Have these papers from now on, by PMID."""
        today = self.clock.day_outside
        self.changed |= {pmid: today for pmid, each in there.items() if self.there.get(pmid) != each}
        self.there = there

    def esearch(self, term, *, retmax=9_999, **_):
        found = sorted(filter(self._matching(term), self.there), key=int)
        return SearchPage(len(found), tuple(found[:retmax]), term, day=self.clock.day_outside)

    def _matching(self, term):
        if "[uid]" in term:
            return set(re.findall(r"(\d+)\[uid\]", term)).__contains__
        within, _, without = term.partition(" NOT ")

        def inside(pmid, listed):
            days = {"mdat": self.changed.get(pmid, CAME)}
            return [first <= f"{days.get(field, CAME):%Y/%m/%d}" <= last for first, field, last in listed]

        within, without = RANGE.findall(within), RANGE.findall(without)
        return lambda pmid: all(inside(pmid, within)) and not any(inside(pmid, without))

    def efetch(self, pmids, **_):
        for each in pmids:
            if each in self.there:
                yield article_of(self.there[each])

    def esummary(self, pmids, **_):
        denied = [each for each in pmids if each not in self.there]
        return Summaries((), dict.fromkeys(denied, "unknown"), frozenset(denied))

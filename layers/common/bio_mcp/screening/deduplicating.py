"""Which entries of searches are one record: what says so, and what keeps two apart that look alike."""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from bio_mcp.literature.identifiers import is_pmid
from bio_mcp.literature.records import Journal
from bio_mcp.literature.references.comparing import same_journal, same_title
from bio_mcp.literature.references.works import alike, folded, words_of
from bio_mcp.ports.stores import ReviewRecord

TWO_OF_PUBMED = "two records of PubMed"
SHORT = 4  # words of a title, such as "Editorial comment": fewer tell nothing alone
_NOTICE = re.compile(
    r"\W*(?:author'?s?\W+)?(?:errat|corrig|correction|retraction\b|expression of concern|comment|reply|response|re:)",
    re.IGNORECASE,
)
_PREPRINTS = re.compile(
    r"10\.(?:1101/(?:\d{4}\.\d\d\.\d\d\.)?\d{6,8}|21203/rs|20944/preprints|2139/ssrn|48550/arxiv|31234|31219|26434/chemrxiv|22541|36227|64898)\b"
)
_SERVERS = re.compile(r"\b(?:medrxiv|biorxiv|arxiv|research square|ssrn|preprints|chemrxiv|psyarxiv)\b", re.IGNORECASE)
_FIGURES = re.compile(r"[a-z]*0*(\d+)", re.IGNORECASE)


def pmid_of(record: ReviewRecord) -> str:
    """Its PMID; "" for a record without."""
    return record.pmid or (record.record_id if is_pmid(record.record_id) else "")


@dataclass(frozen=True, slots=True)
class Likeness:
    """What two entries have to do with each other: whether they are one record, and why or why not, in words."""

    record: ReviewRecord
    same: bool
    why: str


class Records:
    """Records by what may be another's. Of records that are one, the first stands for all."""

    def __init__(self, records: Iterable[ReviewRecord] = ()) -> None:
        self._by: dict[tuple[str, str], list[tuple[ReviewRecord, ReviewRecord]]] = defaultdict(list)
        for each in records:
            self.add(each)

    def add(self, record: ReviewRecord, of: ReviewRecord | None = None) -> None:
        """Know the record, or that it is `of` another."""
        for name in _names(record):
            self._by[name].append((record, of or record))

    def like(self, entry: ReviewRecord) -> list[Likeness]:
        """The records that an entry is like: those that it is one with first."""
        found: dict[str, Likeness] = {}
        for record, stands in (pair for name in _names(entry) for pair in self._by.get(name, ())):
            same, why = compare(entry, record)
            before = found.get(stands.record_id)
            counts = before is None or why == TWO_OF_PUBMED or (same and not before.same)
            if why and counts and not (before and before.why == TWO_OF_PUBMED):
                found[stands.record_id] = Likeness(stands, same, why)
        return sorted(found.values(), key=lambda each: (not each.same, each.record.record_id != entry.record_id))

    def same_as(self, entry: ReviewRecord) -> Likeness | None:
        """The record that the entry is one with, and why."""
        return next((each for each in self.like(entry) if each.same), None)


def _names(record: ReviewRecord) -> list[tuple[str, str]]:
    names = [("pmid", pmid_of(record)), ("doi", record.doi or ""), ("title", title_key(record.title))]
    return [each for each in names if each[1]]


def title_key(title: str) -> str:
    """The title without case, accents, punctuation and blanks."""
    return "".join(words_of(title))


def compare(one: ReviewRecord, other: ReviewRecord) -> tuple[bool, str]:
    """Whether two entries that have a PMID, DOI or title in common are one record, and why; "" where it goes without
    saying that they are two.

    They are, by a PMID or DOI in common with titles that do not differ, or by title, year and first author, and the
    journal, volume or pages where both state these, of which one at least must be stated. Kept apart is a notice from
    its paper, a preprint from what was published, and all that states what differs.
    """
    mine, theirs = pmid_of(one), pmid_of(other)
    if mine and theirs and mine != theirs:
        return False, TWO_OF_PUBMED
    if one.record_id == other.record_id and one.record_id.startswith("title:"):
        return True, "the same in all that is stated"
    if bool(_NOTICE.match(one.title)) != bool(_NOTICE.match(other.title)):
        return False, "one is a notice about the other, by its title"
    common = "PMID" if mine and mine == theirs else "DOI" if one.doi and one.doi == other.doi else ""
    if common:
        other_titles = not {same_title(one.title, other.title), same_title(other.title, one.title)} - {False}
        return not other_titles, f"the same {common}{', and other titles' if other_titles else ''}"
    same_words = one.title and title_key(one.title) == title_key(other.title)
    return _by_imprint(one, other) if same_words else (False, "")


def _by_imprint(one: ReviewRecord, other: ReviewRecord) -> tuple[bool, str]:
    """Of two with the same title."""
    if is_preprint(one) != is_preprint(other):
        return False, "a preprint and what was published, by DOI or journal"
    compared = {
        "year": None if not (one.year and other.year) else one.year == other.year,
        "DOI": None if not (one.doi and other.doi) else one.doi == other.doi,
        "first author": _first_author(one, other),
        "journal": same_journal(one.journal, Journal(title=other.journal)) if one.journal and other.journal else None,
        "volume": _figure(one.volume, other.volume),
        "pages": _figure(one.pages, other.pages),
    }
    agrees = [name for name, same in compared.items() if same]
    in_print = {"first author", "volume", "pages"} <= {*agrees}
    differs = [name for name, same in compared.items() if same is False]
    if differs == ["year"] and in_print and abs((one.year or 0) - (other.year or 0)) == 1:
        return True, f"the same title, {', '.join(agrees)}, in years next to each other"  # online first
    if differs:
        return False, f"the same title, and another {', '.join(differs)}"
    somewhere = {"journal", "volume", "pages"} & {*agrees}
    if len(words_of(one.title)) < SHORT and "pages" not in agrees:
        return False, "the same short title"
    if in_print or ({"year", "first author"} <= {*agrees} and somewhere):
        return True, f"the same title, {', '.join(agrees)}"
    return False, "the same title, and too little else is stated"


def is_preprint(record: ReviewRecord) -> bool:
    """Whether it is on a preprint server, as far as its DOI, journal or source say."""
    return record.preprint or bool(_PREPRINTS.match(record.doi or "") or _SERVERS.search(record.journal))


def _first_author(one: ReviewRecord, other: ReviewRecord) -> bool | None:
    """Whether the family names of the first authors agree."""
    if not (one.authors and other.authors):
        return None
    mine, theirs = (_family_names(each.authors[0]) for each in (one, other))
    return any(alike(left, right) for left in mine for right in theirs)


def _family_names(name: str) -> list[str]:
    """`Yang, Z.`, `Yang Z` and `Zixiao Yang`: the words that are no initials; before a comma alone, where there is
    one."""
    words = re.findall(r"[^\W\d_]+", folded(name.partition(",")[0]))
    capitals = re.findall(r"\b[^\W\d_a-z]{1,3}\b\.?", name)
    initials = {folded(each.rstrip(".")) for each in capitals}
    return [each for each in words if len(each) > 1 and each not in initials] or words


def _figure(one: str, other: str) -> bool | None:
    """Whether two volumes, or the first pages of two, are one; None where one has no figure."""
    mine, theirs = _FIGURES.search(one), _FIGURES.search(other)
    return mine[1] == theirs[1] if mine and theirs else None

"""What a review reports: its searches as PRISMA-S lists them, and the flow of its records as PRISMA 2020 counts and
draws it, as SVG."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from typing import Literal

from bio_mcp.literature.clock import instant
from bio_mcp.ports import Backends
from bio_mcp.ports.stores import ReviewSearch
from bio_mcp.retrieval.excerpts import cut
from bio_mcp.screening.collecting import BY_HAND, CORPUS
from bio_mcp.screening.reviews import Review
from bio_mcp.syncing.queries import list_queries, report_on
from bio_mcp.untrusted import neutral

PLATFORMS = {
    "PubMed": "NCBI E-utilities",
    "Embase": "Embase.com",
    "CENTRAL": "Cochrane Library",
    "Scopus": "Elsevier",
    "Web of Science": "Clarivate",
    CORPUS: "bio-mcp",
}


MOST_TERMS = 100  # of a query key


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A search: `term` exactly as it was sent, `at` when, `found` what it returned, `new` what no search before had."""

    database: str
    platform: str | None
    method: str
    term: str | None
    at: str
    found: int
    new: int | None
    note: str | None = None


def search_log(searches: Sequence[ReviewSearch], query_key: str | None, backends: Backends) -> list[LoggedSearch]:
    """The searches of a review, the oldest first, and for a query key the syncs of its terms."""
    logged: list[LoggedSearch] = []
    known: set[str] = set()
    for search in searches:
        new = len(set(search.record_ids) - known)
        known.update(search.record_ids)
        platform, at = PLATFORMS.get(search.database), instant(search.at)
        logged.append(LoggedSearch(search.database, platform, search.method, search.term, at, search.found, new))
    queries = list_queries(query_key, MOST_TERMS, backends)[0] if query_key else []
    for query in queries:
        if query.job:
            report = report_on(query.job, backends.now())
            to = f"; all that PubMed dates to {query.settled_to} or before is in the corpus" if query.settled_to else ""
            note = f"the newest sync of the followed query: records that were new or changed{to}"
            term, at = query.checkpoint.term, instant(query.job.updated)
            platform = PLATFORMS["PubMed"]
            logged.append(LoggedSearch("PubMed", platform, "database", term, at, report.processed, None, note))
    return logged


NOT_RETRIEVED = "not retrieved"  # the reason of an exclusion at the full text that is none of its content
NO_REASON = "no reason given"


@dataclass(frozen=True, slots=True)
class Identified:
    """How many records a `database`, or another `method`, has found."""

    database: str
    method: Literal["database", "other"]
    records: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Numbers by the names of PRISMA 2020: of records, and from `sought` on of reports.

    They add up: `identified` less duplicates and what was not delivered is `screened` and `undecided`; `screened` is
    `excluded` and `sought`; that is `not_retrieved`, `assessed` and `unassessed`; `assessed` is `included` and those
    excluded by reason.
    """

    sources: tuple[Identified, ...]
    duplicates_removed: int
    not_delivered: int
    screened: int
    excluded: int
    sought: int
    not_retrieved: int
    assessed: int
    excluded_by_reason: tuple[tuple[str, int], ...]
    included: int
    undecided: int
    unassessed: int

    @property
    def identified(self) -> int:
        return sum(each.records for each in self.sources)

    def identified_by(self, method: Literal["database", "other"]) -> int:
        return sum(each.records for each in self.sources if each.method == method)


def flow(review: Review, searches: Sequence[ReviewSearch]) -> Flow:
    """Count the records from where they were found to what was decided.

    A search that was repeated counts once, with all that it ever found. Records that came by no search count as chosen
    by hand. `undecided` records are not settled yet, by all who screen.
    """
    runs: dict[tuple[str, ...], list[ReviewSearch]] = {}
    for each in searches:
        once = each.search_id if each.source.startswith("file:") else ""
        runs.setdefault((each.method, each.database, each.term or "", once), []).append(each)
    records, by_source, lost = 0, Counter[tuple[str, str]](), 0
    for (method, database, *_, once), found in runs.items():
        known = [name for each in found for name in each.record_ids if name in review.by_id]
        hits = len(known) if once else len(set(known))
        missing = max(0, found[-1].found - len(found[-1].record_ids))
        records, lost = records + hits, lost + missing
        by_source[database, method] += hits + missing
    found_by_search = {name for each in searches for name in each.record_ids}
    by_hand = len(review.by_id.keys() - found_by_search)
    if by_hand:
        by_source[BY_HAND.database, BY_HAND.method] += by_hand
    settled, sought = review.settled("abstract"), set(review.of("abstract", "include"))
    reports = [each for name, each in review.decisions("full_text").items() if name in sought]
    reasons = Counter(each.reason or NO_REASON for each in reports if each.decision == "exclude")
    not_retrieved = reasons.pop(NOT_RETRIEVED, 0)
    included = sum(each.decision == "include" for each in reports)
    assessed = included + reasons.total()
    return Flow(
        sources=tuple(Identified(database, method, count) for (database, method), count in by_source.items()),  # type: ignore[arg-type]
        duplicates_removed=records + by_hand - len(review.records),
        not_delivered=lost,
        screened=len(settled),
        excluded=len(settled) - len(sought),
        sought=len(sought),
        not_retrieved=not_retrieved,
        assessed=assessed,
        excluded_by_reason=tuple(sorted(reasons.items(), key=lambda each: (-each[1], each[0]))),
        included=included,
        undecided=len(review.records) - len(settled),
        unassessed=len(sought) - not_retrieved - assessed,
    )


WIDTH, BOX, SIDE = 760, 350, 320  # of the picture, a box of the main column, and one beside it
LEFT, RIGHT = 40, 430  # where these begin
LINE, PAD, GAP = 18, 12, 34  # height of a line, space in a box, space between boxes
SOURCES = 12  # that are named
PHASES = ("Identification", "Screening", "Included")


@dataclass(frozen=True, slots=True)
class _Box:
    lines: Sequence[str]
    beside: Sequence[str] = ()
    least: int = 0  # lines that it has room for

    @property
    def height(self) -> int:
        return 2 * PAD + LINE * max(len(self.lines), len(self.beside), self.least)


def prisma_svg(flow: Flow, name: str, drawn: date) -> str:
    """The flow diagram of the review `name`, for a screen and for print: black on white, its text as text.

    Records that were not screened yet, and reports that were not assessed, stand in boxes of their own, so that the
    numbers add up at any time.
    """
    boxes = _boxes(flow)
    top = 56
    parts: list[str] = []
    ends = []
    for place, box in enumerate(boxes):
        parts.append(_box(LEFT, top, BOX, box.height, box.lines))
        if box.beside:
            parts.append(_box(RIGHT, top, SIDE, box.height, box.beside))
            parts.append(_arrow(LEFT + BOX, top + box.height // 2, RIGHT, top + box.height // 2))
        if place + 1 < len(boxes):
            middle = LEFT + BOX // 2
            parts.append(_arrow(middle, top + box.height, middle, top + box.height + GAP))
        ends.append((top, top + box.height))
        top += box.height + GAP
    for title, first, last in ((PHASES[0], 0, 0), (PHASES[1], 1, len(boxes) - 2), (PHASES[2], -1, -1)):
        start, end = ends[first][0], ends[last][1]
        parts.append(
            f'<rect x="8" y="{start}" width="22" height="{end - start}" rx="4" fill="#e8eef7" stroke="#000"/>'
            f'<text transform="translate(23 {(start + end) // 2}) rotate(-90)" text-anchor="middle" '
            f'font-size="12" font-weight="bold">{title}</text>'
        )
    said = ". ".join("; ".join([*box.lines, *box.beside]) for box in boxes)
    heading = f"PRISMA 2020 flow of {neutral(name, places=False)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" '
        'role="img" aria-labelledby="prisma-title prisma-desc" font-family="Helvetica, Arial, sans-serif" '
        'font-size="13">\n'
        f'<title id="prisma-title">{escape(heading)}</title>\n<desc id="prisma-desc">{escape(said)}.</desc>\n'
        '<defs><marker id="prisma-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>\n'
        f'<rect width="{WIDTH}" height="{top}" fill="#fff"/>\n'
        f'<text x="{LEFT}" y="32" font-size="16" font-weight="bold">{escape(cut(heading, 80))}, '
        f"{drawn.isoformat()}</text>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _boxes(flow: Flow) -> list[_Box]:
    named = sorted(flow.sources, key=lambda each: (each.method, -each.records, each.database))
    found = [_counted(cut(neutral(each.database, places=False), 30), each.records) for each in named[:SOURCES]]
    if rest := named[SOURCES:]:
        found.append(_counted(f"{len(rest)} others", sum(each.records for each in rest)))
    reasons = [_counted(cut(neutral(reason, places=False), 30), count) for reason, count in flow.excluded_by_reason]
    later = [_counted("Records not screened yet", flow.undecided)] if flow.undecided else []
    unread = [_counted("Reports not assessed yet", flow.unassessed)] if flow.unassessed else []
    return [
        _Box(
            [_counted("Records identified from", flow.identified), *found],
            [
                "Records removed before screening",
                _counted("Duplicate records", flow.duplicates_removed),
                _counted("Records that could not be had", flow.not_delivered),
            ],
            least=4,
        ),
        _Box([_counted("Records screened", flow.screened), *later], [_counted("Records excluded", flow.excluded)]),
        _Box(
            [_counted("Reports sought for retrieval", flow.sought)],
            [_counted("Reports not retrieved", flow.not_retrieved)],
        ),
        _Box(
            [_counted("Reports assessed for eligibility", flow.assessed), *unread],
            [_counted("Reports excluded", flow.assessed - flow.included), *reasons],
        ),
        _Box([_counted("Reports included in review", flow.included)], least=3),
    ]


def _counted(what: str, count: int) -> str:
    return f"{what} (n = {count:,})"


def _box(x: int, y: int, width: int, height: int, lines: Sequence[str]) -> str:
    weights = ["bold", *("normal" for _ in lines[1:])]
    texts = "".join(
        f'<tspan x="{x + PAD}" y="{y + PAD + LINE * at - 4}" font-weight="{weight}">{escape(line)}</tspan>'
        for at, (line, weight) in enumerate(zip(lines, weights, strict=True), 1)
    )
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="#fff" stroke="#000"/><text>{texts}</text>'


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path d="M{x} {y}L{to_x} {to_y}" stroke="#000" fill="none" marker-end="url(#prisma-arrow)"/>'

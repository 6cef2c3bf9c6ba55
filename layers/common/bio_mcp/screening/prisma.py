"""The flow of a review as PRISMA 2020 draws it, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from html import escape

from bio_mcp.retrieval.excerpts import cut
from bio_mcp.screening.reviews import Flow
from bio_mcp.untrusted import neutral

WIDTH, BOX, SIDE = 760, 350, 320  # of the picture, a box of the main column, and one beside it
LEFT, RIGHT = 40, 430  # where these begin
LINE, PAD, GAP = 18, 12, 34  # height of a line, space in a box, space between boxes
SOURCES = 12  # that are named
STAGES = ("Identification", "Screening", "Included")


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
    for title, first, last in ((STAGES[0], 0, 0), (STAGES[1], 1, len(boxes) - 2), (STAGES[2], -1, -1)):
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
    found = [f"{cut(neutral(each.database, places=False), 30)} (n = {each.records:,})" for each in named[:SOURCES]]
    if rest := named[SOURCES:]:
        found.append(f"{len(rest)} others (n = {sum(each.records for each in rest):,})")
    removed = [("Duplicate records", flow.duplicates_removed), ("Records that could not be had", flow.not_delivered)]
    reasons = [(cut(neutral(reason, places=False), 30), count) for reason, count in flow.excluded_by_reason]
    later = _counted("Records not screened yet", flow.undecided) if flow.undecided else ()
    unread = _counted("Reports not assessed yet", flow.unassessed) if flow.unassessed else ()
    return [
        _Box(
            [*_counted("Records identified from", flow.identified), *found],
            ["Records removed before screening", *(line for each in removed for line in _counted(*each))],
            least=4,
        ),
        _Box([*_counted("Records screened", flow.screened), *later], _counted("Records excluded", flow.excluded)),
        _Box(
            _counted("Reports sought for retrieval", flow.sought),
            _counted("Reports not retrieved", flow.not_retrieved),
        ),
        _Box(
            [*_counted("Reports assessed for eligibility", flow.assessed), *unread],
            [*_counted("Reports excluded", flow.assessed - flow.included), *(f"{r} (n = {n:,})" for r, n in reasons)],
        ),
        _Box(_counted("Reports included in review", flow.included), least=3),
    ]


def _counted(what: str, count: int) -> list[str]:
    return [f"{what} (n = {count:,})"]


def _box(x: int, y: int, width: int, height: int, lines: Sequence[str]) -> str:
    weights = ["bold", *("normal" for _ in lines[1:])]
    texts = "".join(
        f'<tspan x="{x + PAD}" y="{y + PAD + LINE * at - 4}" font-weight="{weight}">{escape(line)}</tspan>'
        for at, (line, weight) in enumerate(zip(lines, weights, strict=True), 1)
    )
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="#fff" stroke="#000"/><text>{texts}</text>'


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path d="M{x} {y}L{to_x} {to_y}" stroke="#000" fill="none" marker-end="url(#prisma-arrow)"/>'

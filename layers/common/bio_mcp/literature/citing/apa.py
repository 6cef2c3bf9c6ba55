"""APA, 7th edition: one entry of a reference list as plain text, without italics."""

from bio_mcp.literature.citing import dates, names, pages
from bio_mcp.literature.citing.notices import apa_retraction
from bio_mcp.literature.citing.titles import sentence_case, with_full_stop
from bio_mcp.literature.citing.works import Work

_ALL_LISTED = 20  # of 21 or more: the first 19, an ellipsis, the last


def render(work: Work) -> str:
    """`Author, A. B. (2021). Title. Journal, 384(3), 737–738. https://doi.org/...`"""
    title = with_full_stop(_title(work))
    authors = _authors(work)
    when = f"({dates.year(work.issued).replace('-', '–') or 'n.d.'})."
    head = f"{with_full_stop(authors)} {when} {title}" if authors else f"{title} {when}"
    note = apa_retraction(work) if work.retracted else ""
    return " ".join(filter(None, (head.strip(), _source(work), _address(work), note)))


def _authors(work: Work) -> str:
    """The author list. A list that PubMed marks incomplete ends in et al., whatever its length."""
    listed = [names.apa(name) for name in work.authors]
    if not work.article.authors_complete and listed:
        return f"{', '.join(listed[:_ALL_LISTED])}, et al."
    if len(listed) > _ALL_LISTED:
        return f"{', '.join(listed[: _ALL_LISTED - 1])}, . . . {listed[-1]}"
    return _joined(listed, ", & ")


def _joined(listed: list[str], before_last: str) -> str:
    return before_last.join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def _title(work: Work) -> str:
    """The title in sentence case if English; bracketed notes for retraction and preprint follow it."""
    title = sentence_case(work.title_proper) if work.in_english else work.title_proper
    title = title or f"[{work.described}]"
    if work.translated and work.original_title:
        title = f"{work.original_title} {title}"
    kinds = (
        "[Retracted]" if work.retracted and not work.says_so_itself else "",
        "[Preprint]" if work.preprint else "",
    )
    edition = f"({work.edition})" if work.kind == "book" and work.edition else ""
    return " ".join(filter(None, (title, edition, *kinds)))


def _source(work: Work) -> str:
    """Journal, volume(issue) and pages, or the book; a preprint's server alone."""
    if work.article.book:
        return _book(work)
    if work.preprint or not work.container:
        return with_full_stop(work.container)
    numbered = f"{work.volume}({work.issue})" if work.issue else work.volume
    if work.ahead_of_print:
        return f"{with_full_stop(work.container)} Advance online publication."
    where = f"Article {work.number}" if work.number else pages.full(work.page, "–")
    return with_full_stop(", ".join(filter(None, (work.container, numbered, where))))


def _book(work: Work) -> str:
    """The container of a chapter: editors, book, edition, pages, publisher; of a whole book the publisher alone."""
    book = work.article.book
    publisher = with_full_stop(book.publisher or "") if book else ""
    if work.kind == "book":
        return publisher
    editors = [names.apa_straight(name) for name in work.editors]
    role = "(Ed.)" if len(editors) == 1 else "(Eds.)"
    joined = " & ".join(editors) if len(editors) == 2 else _joined(editors, ", & ")
    details = ", ".join(filter(None, (work.edition, pages.labelled(pages.full(work.page, "–"), "–"))))
    container = f"{work.container} ({details})" if details else work.container
    return " ".join(
        filter(None, (with_full_stop(f"In {f'{joined} {role}, ' if editors else ''}{container}"), publisher))
    )


def _address(work: Work) -> str:
    return work.doi_url or (work.url if work.article.book else "")

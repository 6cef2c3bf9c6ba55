"""MLA, 9th edition: one entry of a works-cited list as plain text, without italics."""

from bio_mcp.literature.citing import dates, names, pages
from bio_mcp.literature.citing.names import Name
from bio_mcp.literature.citing.titles import title_case, with_full_stop
from bio_mcp.literature.citing.works import Work


def render(work: Work) -> str:
    """`Last, First, et al. “Title.” Journal, vol. 384, no. 3, 7 June 2021, pp. 737-38, https://doi.org/....`"""
    kind = "Preprint." if work.preprint else ""
    retracted = "[Retracted]." if work.retracted and not work.says_so_itself else ""
    parts = (with_full_stop(_authors(work)), _title(work), with_full_stop(_container(work)), kind, retracted)
    return " ".join(filter(None, parts))


def _authors(work: Work) -> str:
    """One or two authors; the first and et al. for three or more, or for a list that PubMed marks incomplete."""
    listed = work.authors
    if not listed:
        return ""
    first = _leading(listed[0])
    if len(listed) > 2 or not work.article.authors_complete:
        return f"{first}, et al."
    return f"{first}, and {names.straight(listed[1])}" if len(listed) == 2 else first


def _leading(name: Name) -> str:
    """The first author: inverted, or a group's name without its article, by which it would be sorted."""
    return name.literal.removeprefix("The ").removeprefix("the ") if name.literal else names.inverted(name)


def _title(work: Work) -> str:
    """The title in quotation marks, a book's without; a translation stands behind the original title."""
    title = title_case(work.title_proper) if work.in_english else work.title_proper
    if not title:
        return with_full_stop(work.described)
    if work.kind == "book":
        return with_full_stop(title)
    if work.translated and work.original_title:
        return f"“{_within(work.original_title)}” {with_full_stop(title)}"
    return f"“{with_full_stop(_within(title))}”"


def _within(title: str) -> str:
    """Quotation marks inside quotation marks are single ones."""
    return title.replace("“", "‘").replace("”", "’").replace('"', "'")


def _container(work: Work) -> str:
    parts = _book(work) if work.article.book else _journal(work)
    return ", ".join(filter(None, parts))


def _journal(work: Work) -> tuple[str, ...]:
    """Journal, volume, issue, date, pages, DOI; a preprint or an article ahead of print has no numbers."""
    if work.preprint or work.ahead_of_print:
        return work.container, dates.mla_date(work.issued), work.doi_url
    where = f"article {work.number}" if work.number else _pp(work)
    numbered = _numbered("vol.", work.volume), _numbered("no.", work.issue)
    return work.container, *numbered, dates.mla_date(work.issued), where, work.doi_url


def _numbered(label: str, number: str) -> str:
    """`vol. 12`. A volume that names itself (`Suppl 1`, `Anniv No`) takes no label."""
    return f"{label} {number}" if number and (number[0].isdigit() or " " not in number) else number


def _book(work: Work) -> tuple[str, ...]:
    book = work.article.book
    if book is None:
        return ()
    address = work.doi_url or work.url.removeprefix("https://")
    publisher = book.publisher or ""
    return (work.container, _editors(work), work.edition, publisher, dates.year(work.issued), _pp(work), address)


def _editors(work: Work) -> str:
    """`edited by` one or two editors; the first and et al. for three or more."""
    listed = work.editors
    if not listed:
        return ""
    if len(listed) > 2:
        return f"edited by {names.straight(listed[0])} et al."
    return f"edited by {' and '.join(map(names.straight, listed))}"


def _pp(work: Work) -> str:
    return pages.labelled(pages.mla(work.page), "-")

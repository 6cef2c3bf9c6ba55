"""Vancouver, APA and MLA: one entry of a list of references as plain text, without italics."""

from bio_mcp.literature.citing.imprint import (
    full_pages,
    labelled_pages,
    mla_date,
    mla_last,
    nlm_pages,
    printed_year,
)
from bio_mcp.literature.citing.works import (
    Name,
    Work,
    apa_retraction,
    inverted_name,
    nlm_name,
    nlm_notices,
    pointed,
    sentence_case,
    straight_name,
    title_case,
    with_full_stop,
)
from bio_mcp.literature.records import Book

_LISTED = 6


def vancouver(work: Work) -> str:
    """`Author AB, Author CD. Title. J Abbr. 2021 Jun 7;384(3):737-8. doi: ... PMID: ...; PMCID: ....`"""
    article, notices = work.article, list(nlm_notices(work))
    unsaid = work.retracted and not work.says_so_itself and not notices
    parts = (
        with_full_stop(_vancouver_people(work.authors, article.authors_complete)),
        with_full_stop(f"{work.title} [Retracted]" if unsaid else work.title or f"[{work.described}]"),
        *(_vancouver_book(work, article.book) if article.book else _vancouver_journal(work)),
        f"PMID: {article.pmid}{f'; PMCID: {article.pmcid}' if article.pmcid else ''}." if article.pmid else "",
        *notices,
    )
    return " ".join(filter(None, parts))


def _vancouver_people(listed: tuple[Name, ...], complete: bool = True) -> str:
    """Six names, then et al.; commas between people, semicolons around a group."""
    text = ""
    for i, name in enumerate(listed[:_LISTED]):
        groups = bool(name.literal) or bool(i and listed[i - 1].literal)
        text += ("; " if groups else ", ") if i else ""
        text += nlm_name(name)
    return text if not text or (complete and len(listed) <= _LISTED) else f"{text}, et al."


def _vancouver_journal(work: Work) -> list[str]:
    """Abbreviation, date, volume, issue and pages in NLM's punctuation; then languages, DOI, and the date online."""
    where = work.number or nlm_pages(work.page)
    numbered = _numbered(work)
    cited = work.issued.text if work.issued else ""
    cited += f";{numbered}" if numbered else ""
    cited += f":{where}" if where else ""
    abbreviation = f"{work.abbreviation}{' [Preprint]' if work.preprint else ''}" if work.abbreviation else ""
    return [
        with_full_stop(abbreviation),
        with_full_stop(cited),
        with_full_stop(work.printed_languages),
        f"doi: {work.article.doi}." if work.article.doi else "",
        _online(work),
    ]


def _numbered(work: Work) -> str:
    """`384(3)`: volume and issue."""
    return f"{work.volume}({work.issue})" if work.issue else work.volume


def _online(work: Work) -> str:
    """`Epub 2021 Jan 5.` or `eCollection 2021.`: the date that the imprint does not show; "" where both are one."""
    if work.ahead_of_print:
        return "Epub ahead of print."
    printed = work.article.publication_date
    if not (work.electronic and printed) or work.electronic.iso == printed.iso:
        return ""
    if work.issued is work.electronic:
        label = {"Electronic-eCollection": "eCollection", "Electronic-Print": "Print"}
        return f"{label[work.article.publication_model or '']} {printed.text}."
    both = work.article.publication_model in ("Print-Electronic", "Electronic-Print")
    return f"Epub {work.electronic.text}." if both else ""


def _vancouver_book(work: Work, book: Book) -> list[str]:
    """The imprint of a book, or of a chapter with its dates, editors and book."""
    started = work.article.publication_date.text if work.article.publication_date else ""
    imprint = ": ".join(filter(None, (work.place, work.publisher)))
    edition, available = with_full_stop(work.printed_edition), f"Available from: {work.url}"
    if work.kind == "book":
        return [edition, with_full_stop("; ".join(filter(None, (imprint, started)))), available]
    when, revised = book.contribution_date, work.article.date_revised
    updated = f" [updated {revised:%Y} {revised:%b} {revised.day}]" if revised and when and when.text else ""
    editors = _vancouver_people(work.editors)
    role = f"{editors}, editor{'s' if len(work.editors) > 1 else ''}. " if editors else ""
    return [
        with_full_stop(f"{when.text if when else ''}{updated}"),
        f"In: {role}{work.container} [Internet].",
        edition,
        with_full_stop(f"{imprint}; {started}{'-' if when else ''}".strip("; ")),
        f"p. {nlm_pages(work.page)}." if work.page else "",
        available,
    ]


_ALL_LISTED = 20  # of 21 or more: the first 19, an ellipsis, the last


def apa(work: Work) -> str:
    """`Author, A. B. (2021). Title. Journal, 384(3), 737–738. https://doi.org/...`"""
    title = with_full_stop(_apa_title(work))
    authors = _apa_authors(work)
    when = f"({printed_year(work.issued).replace('-', '–') or 'n.d.'})."
    head = f"{with_full_stop(authors)} {when} {title}" if authors else f"{title} {when}"
    note = apa_retraction(work) if work.retracted else ""
    address = work.doi_url or (work.url if work.article.book else "")
    return " ".join(filter(None, (head.strip(), _apa_source(work), address, note)))


def _apa_authors(work: Work) -> str:
    """The author list. A list that PubMed marks incomplete ends in et al., whatever its length."""
    listed = [inverted_name(name, pointed(name)) for name in work.authors]
    if not work.article.authors_complete and listed:
        return f"{', '.join(listed[:_ALL_LISTED])}, et al."
    if len(listed) > _ALL_LISTED:
        return f"{', '.join(listed[: _ALL_LISTED - 1])}, . . . {listed[-1]}"
    return _joined(listed)


def _joined(listed: list[str]) -> str:
    return ", & ".join(filter(None, (", ".join(listed[:-1]), *listed[-1:])))


def _apa_title(work: Work) -> str:
    """The title in sentence case if English; bracketed notes for retraction and preprint follow it."""
    title = sentence_case(work.title_proper) if work.in_english else work.title_proper
    title = title or f"[{work.described}]"
    if work.translated and work.original_title:
        title = f"{work.original_title} {title}"
    edition = f"({work.printed_edition})" if work.kind == "book" and work.edition else ""
    retracted = "[Retracted]" if work.retracted and not work.says_so_itself else ""
    return " ".join(filter(None, (title, edition, retracted, "[Preprint]" if work.preprint else "")))


def _apa_source(work: Work) -> str:
    """Journal, volume(issue) and pages, or the book; a preprint's server alone."""
    if work.article.book:
        return _apa_book(work)
    if work.preprint or not work.container:
        return with_full_stop(work.container)
    if work.ahead_of_print:
        return f"{with_full_stop(work.container)} Advance online publication."
    where = f"Article {work.number}" if work.number else full_pages(work.page, "–")
    return with_full_stop(", ".join(filter(None, (work.container, _numbered(work), where))))


def _apa_book(work: Work) -> str:
    """The container of a chapter: editors, book, edition, pages, publisher; of a whole book the publisher alone."""
    publisher = with_full_stop(work.publisher)
    if work.kind == "book":
        return publisher
    editors = [straight_name(name, pointed(name)) for name in work.editors]
    role = "(Ed.)" if len(editors) == 1 else "(Eds.)"
    joined = " & ".join(editors) if len(editors) == 2 else _joined(editors)
    pages = labelled_pages(full_pages(work.page, "–"), "–")
    details = ", ".join(filter(None, (work.printed_edition, pages)))
    container = f"{work.container} ({details})" if details else work.container
    source = with_full_stop(f"In {f'{joined} {role}, ' if editors else ''}{container}")
    return " ".join(filter(None, (source, publisher)))


def mla(work: Work) -> str:
    """`Last, First, et al. “Title.” Journal, vol. 384, no. 3, 7 June 2021, pp. 737-38, https://doi.org/....`"""
    container = _mla_book(work) if work.article.book else _mla_journal(work)
    parts = (
        with_full_stop(_mla_authors(work)),
        _mla_title(work),
        with_full_stop(", ".join(filter(None, container))),
        "Preprint." if work.preprint else "",
        "[Retracted]." if work.retracted and not work.says_so_itself else "",
    )
    return " ".join(filter(None, parts))


def _mla_authors(work: Work) -> str:
    """One or two authors; the first and et al. for three or more, or for a list that PubMed marks incomplete.

    The first is inverted; a group's name has no article, as it would be sorted.
    """
    listed = work.authors
    if not listed:
        return ""
    first = inverted_name(listed[0])
    if listed[0].literal:
        first = first.removeprefix("The ").removeprefix("the ")
    if len(listed) > 2 or not work.article.authors_complete:
        return f"{first}, et al."
    return f"{first}, and {straight_name(listed[1])}" if len(listed) == 2 else first


def _mla_title(work: Work) -> str:
    """The title in quotation marks, a book's without; a translation stands behind the original title."""
    title = title_case(work.title_proper) if work.in_english else work.title_proper
    if not title:
        return with_full_stop(work.described)
    if work.kind == "book":
        return with_full_stop(title)
    quotes = str.maketrans({"“": "‘", "”": "’", '"': "'"})  # inside quotation marks
    if work.translated and work.original_title:
        return f"“{work.original_title.translate(quotes)}” {with_full_stop(title)}"
    return f"“{with_full_stop(title.translate(quotes))}”"


def _mla_journal(work: Work) -> tuple[str, ...]:
    """Journal, volume, issue, date, pages, DOI; a preprint or an article ahead of print has no numbers."""
    if work.preprint or work.ahead_of_print:
        return work.container, mla_date(work.issued), work.doi_url
    where = f"article {work.number}" if work.number else labelled_pages(full_pages(work.page, last=mla_last), "-")
    # `vol. 12`. A volume that names itself (`Suppl 1`, `Anniv No`) takes no label.
    numbered = (
        f"{label} {number}" if number and (number[0].isdigit() or " " not in number) else number
        for label, number in (("vol.", work.volume), ("no.", work.issue))
    )
    return work.container, *numbered, mla_date(work.issued), where, work.doi_url


def _mla_book(work: Work) -> tuple[str, ...]:
    """The book, `edited by` one or two editors or the first and et al., edition, publisher, year, pages, address."""
    named = list(map(straight_name, work.editors))
    editors = f"{named[0]} et al." if len(named) > 2 else " and ".join(named)
    return (
        work.container,
        f"edited by {editors}" if named else "",
        work.printed_edition,
        work.publisher,
        printed_year(work.issued),
        labelled_pages(full_pages(work.page, last=mla_last), "-"),
        work.doi_url or work.url.removeprefix("https://"),
    )

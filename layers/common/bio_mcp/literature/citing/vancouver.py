"""Vancouver: ICMJE's sample references, with the details of NLM's Citing Medicine and PubMed's own citations."""

from bio_mcp.literature.citing import dates, names, notices, pages
from bio_mcp.literature.citing.names import Name
from bio_mcp.literature.citing.titles import with_full_stop
from bio_mcp.literature.citing.works import Work

_LISTED = 6


def render(work: Work) -> str:
    """`Author AB, Author CD. Title. J Abbr. 2021 Jun 7;384(3):737-8. doi: ... PMID: ...; PMCID: ....`"""
    source = _book(work) if work.article.book else _journal(work)
    parts = (
        with_full_stop(_people(work.authors, work.article.authors_complete)),
        with_full_stop(_title(work)),
        *source,
        _ids(work),
        *notices.nlm(work),
    )
    return " ".join(filter(None, parts))


def _people(listed: tuple[Name, ...], complete: bool = True) -> str:
    """Six names, then et al.; commas between people, semicolons around a group."""
    text = ""
    for i, name in enumerate(listed[:_LISTED]):
        groups = bool(name.literal) or bool(i and listed[i - 1].literal)
        text += ("; " if groups else ", ") if i else ""
        text += names.nlm(name)
    return text if not text or (complete and len(listed) <= _LISTED) else f"{text}, et al."


def _title(work: Work) -> str:
    if work.retracted and not work.says_so_itself and not any(True for _ in notices.nlm(work)):
        return f"{work.title} [Retracted]"
    return work.title or f"[{work.described}]"


def _journal(work: Work) -> list[str]:
    """Abbreviation, date, volume, issue and pages in NLM's punctuation; then languages, DOI, and the date online."""
    where = work.number or pages.nlm(work.page)
    numbered = f"{work.volume}({work.issue})" if work.issue else work.volume
    cited = dates.nlm_date(work.issued)
    cited += f";{numbered}" if numbered else ""
    cited += f":{where}" if where else ""
    kind = " [Preprint]" if work.preprint else ""
    doi = f"doi: {work.article.doi}." if work.article.doi else ""
    abbreviation = f"{work.abbreviation}{kind}" if work.abbreviation else ""
    return [
        with_full_stop(abbreviation),
        with_full_stop(cited),
        with_full_stop(work.printed_languages),
        doi,
        _online(work),
    ]


def _online(work: Work) -> str:
    """`Epub 2021 Jan 5.` or `eCollection 2021.`: the date that the imprint does not show; "" where both are one."""
    if work.ahead_of_print:
        return "Epub ahead of print."
    printed = work.article.publication_date
    if not (work.electronic and printed) or work.electronic.iso == printed.iso:
        return ""
    if work.issued is work.electronic:
        label = {"Electronic-eCollection": "eCollection", "Electronic-Print": "Print"}
        return f"{label[work.article.publication_model or '']} {dates.nlm_date(printed)}."
    both = work.article.publication_model in ("Print-Electronic", "Electronic-Print")
    return f"Epub {dates.nlm_date(work.electronic)}." if both else ""


def _book(work: Work) -> list[str]:
    """The imprint of a book, or of a chapter with its dates, editors and book."""
    book = work.article.book
    if book is None:
        return []
    place, publisher = book.place or "", book.publisher or ""
    imprint = ": ".join(filter(None, (place, publisher)))
    edition = with_full_stop(work.edition)
    started = dates.nlm_date(work.article.publication_date)
    if work.kind == "book":
        return [edition, with_full_stop("; ".join(filter(None, (imprint, started)))), f"Available from: {work.url}"]
    when = dates.nlm_date(book.contribution_date)
    revised = work.article.date_revised
    updated = f" [updated {revised:%Y} {revised:%b} {revised.day}]" if revised and when else ""
    editors = _people(work.editors)
    role = f"{editors}, editor{'s' if len(work.editors) > 1 else ''}. " if editors else ""
    printed = f"{imprint}; {started}-" if book.contribution_date else f"{imprint}; {started}"
    printed_pages = f"p. {pages.nlm(work.page)}." if work.page else ""
    book_parts = [
        f"In: {role}{work.container} [Internet].",
        edition,
        with_full_stop(printed.strip("; ")),
        printed_pages,
    ]
    return [with_full_stop(f"{when}{updated}"), *book_parts, f"Available from: {work.url}"]


def _ids(work: Work) -> str:
    pmcid = f"; PMCID: {work.article.pmcid}" if work.article.pmcid else ""
    return f"PMID: {work.article.pmid}{pmcid}."

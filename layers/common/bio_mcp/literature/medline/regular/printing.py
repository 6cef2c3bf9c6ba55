"""Where and when an article was printed: its journal, issue, pages and dates."""

import re

from bio_mcp.literature.medline import journals
from bio_mcp.literature.medline.citations import pages
from bio_mcp.literature.medline.dates import calendar_day, printed, printed_of
from bio_mcp.literature.medline.journals import Fields
from bio_mcp.literature.medline.regular.fragments import LONGEST, Irregular, Remembered, content, fragment, usually
from bio_mcp.literature.medline.regular.texts import every, leaf_text, tidied
from bio_mcp.literature.records import PartialDate

_ISSUE, _ISSUE_END, _NO_ISSUE = "<JournalIssue ", "</JournalIssue>", "<JournalIssue/>"
_ISSUE_PARTS = re.compile(
    'CitedMedium="(?:Print|Internet)">[^<]*(?:<Volume>([^<]*)</Volume>[^<]*)?(?:<Issue>([^<]*)</Issue>[^<]*)?'
    "<PubDate>(.*)</PubDate>[^<]*",
    re.DOTALL,
)
_JOURNAL_PART = re.compile('<(ISSN|Title|ISOAbbreviation)(?: IssnType="([A-Za-z]+)")?>([^<]*)</\\1>')
_LEAF = re.compile("<([A-Za-z]+)>([^<]*)</\\1>")
_PAGES = re.compile(
    "[^<]*(?:<StartPage>([^<]*)</StartPage>[^<]*)?(?:<EndPage>([^<]*)</EndPage>[^<]*)?"
    "(?:<MedlinePgn>([^<]*)</MedlinePgn>[^<]*)?"
)


def journal_fields(inner: str) -> tuple[Fields, tuple[Fields, Fields]]:
    """What Journal says, and what its one JournalIssue does. A journal recurs in other issues."""
    before, _, issue = inner.partition(_ISSUE)
    issue, end, after = issue.partition(_ISSUE_END)
    if not end or _ISSUE in after:
        raise Irregular
    return _JOURNALS[before + _NO_ISSUE + after], _ISSUES[issue]


def _whole_journal(inner: str) -> tuple[Fields, Fields]:
    """What Journal says about the journal, its issue included, and about the article."""
    of_journal, (of_issue, of_article) = journal_fields(inner)
    return of_journal + of_issue, of_article


def page_range(inner: str) -> str | None:
    """Pagination."""
    match = _PAGES.fullmatch(inner)
    if not match:
        raise Irregular
    return pages(*map(leaf_text, match.groups("")))


def _journal(inner: str) -> Fields:
    fields: list[tuple[str, str | None]] = []
    for tag, kind, text in [found for part in inner.split(_NO_ISSUE) for found in every(_JOURNAL_PART, part)]:
        if tag == "ISSN":
            fields += ("issn", tidied(text) or None), ("issn_type", kind or None)
        else:
            fields.append((journals.OF_JOURNAL[tag], tidied(text) or None))
    return tuple(fields)


def _journal_of_tree(inner: str) -> Fields:
    """The same of other elements. Raises `Irregular` where the issue stands in one of them: it counts for none then."""
    element = fragment(f"<x>{inner}</x>".encode())
    if element.find("JournalIssue") is None:
        raise Irregular
    return journals.journal_fields(element)


def _info(inner: str) -> Fields:
    found = every(_LEAF, inner)
    return tuple([(journals.OF_NLM[tag], tidied(text) or None) for tag, text in found if tag in journals.OF_NLM])


def _printed(inner: str) -> PartialDate | None:
    if "&" in inner:
        raise Irregular
    return printed_of(dict(every(_LEAF, inner)))


def _issue(issue: str) -> tuple[Fields, Fields]:
    match = _ISSUE_PARTS.fullmatch(issue)
    if not match:
        raise Irregular
    volume, number, date = match.groups()
    found = [(name, text) for name, text in (("volume", volume), ("issue", number)) if text is not None]
    return tuple([(name, leaf_text(text)) for name, text in found]), (("publication_date", DATES[date]),)


WORDS = Remembered(leaf_text, 256)
DATES = Remembered(usually(_printed, content(printed)))
DAYS = Remembered(content(calendar_day))
JOURNALS = Remembered(_whole_journal, longest=2 * LONGEST)
JOURNAL_INFOS = Remembered(usually(_info, content(journals.info_fields)))
_JOURNALS = Remembered(usually(_journal, _journal_of_tree))
_ISSUES = Remembered(
    usually(_issue, lambda issue: journals.issue_fields(fragment((_ISSUE + issue + _ISSUE_END).encode()))), 8192
)

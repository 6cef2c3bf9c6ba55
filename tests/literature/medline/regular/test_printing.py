"""Journal, issue and pages read from their bytes."""

import pytest

from bio_mcp.literature.medline import journals
from bio_mcp.literature.medline.citations import article
from bio_mcp.literature.medline.regular.fragments import fragment
from bio_mcp.literature.medline.regular.printing import JOURNAL_INFOS, journal_fields, page_range
from tests.literature.medline.regular.alike import alike

ISSUE = '<JournalIssue CitedMedium="Internet">{}</JournalIssue>'
DATED = "<Volume>10</Volume><Issue>4</Issue><PubDate><Year>2000</Year><Month>Feb</Month></PubDate>"
TITLES = (
    '<ISSN IssnType="Print">0960-9822</ISSN>{}<Title>Current &amp; biology</Title><ISOAbbreviation>C</ISOAbbreviation>'
)
JOURNALS = {
    "usual": TITLES.format(ISSUE.format(DATED)),
    "no volume": TITLES.format(ISSUE.format("<PubDate><MedlineDate>2000 Spring</MedlineDate></PubDate>")),
    "no date": TITLES.format(ISSUE.format("<Volume>10</Volume>")),
    "an empty volume": TITLES.format(ISSUE.format("<Volume></Volume><PubDate/>")),
    "two dates": TITLES.format(ISSUE.format(DATED + DATED)),
    "another medium": TITLES.format(ISSUE.format(DATED).replace("Internet", "x")),
    "markup": f"<Title>a<sup>2</sup></Title>{ISSUE.format(DATED)}",
    "an ISSN of no kind": f"<ISSN>1</ISSN><ISSN IssnType=''>2</ISSN>{ISSUE.format(DATED)}",
    "something else": f"<Other><Title>a</Title></Other>{ISSUE.format(DATED)}",
    "the issue last": f"<Title>a</Title><Title>b  c</Title>{ISSUE.format(DATED)}",
}
INFOS = {
    "usual": "<Country>England</Country><MedlineTA>C &lt; B</MedlineTA><NlmUniqueID>1</NlmUniqueID>",
    "empty": "<Country></Country><ISSNLinking/>",
    "another": "<Country>England</Country><Other>x</Other>",
    "nothing": " ",
}
PAGES = {
    "usual": ("<StartPage>1</StartPage><EndPage>7</EndPage><MedlinePgn>1-7</MedlinePgn>", "1-7"),
    "only as printed": ("<MedlinePgn>e5 &amp; e6</MedlinePgn>", "e5 & e6"),
    "first and last": ("<StartPage>1</StartPage><EndPage> 7 </EndPage>", "1-7"),
    "only the first": ("<StartPage>1</StartPage>", "1"),
    "only the last": ("<EndPage>1</EndPage>", None),
    "none": ("\n", None),
}


def fields_of(element):
    issues = [journals.issue_fields(child) for child in element.iterchildren("JournalIssue")]
    return journals.journal_fields(element), *issues


@pytest.mark.parametrize("inner", JOURNALS.values(), ids=JOURNALS)
def test_a_journal_says_what_its_tree_does(inner):
    assert alike(journal_fields, fields_of, inner)


@pytest.mark.parametrize(
    "inner",
    [
        "<Title>a</Title>",
        ISSUE.format(DATED) * 2,
        f"<Tit{ISSUE.format(DATED)}le>a</Title>",
        f"<ISSN>1{ISSUE.format(DATED)}</ISSN>",
    ],
    ids=["no issue", "two issues", "an issue in a tag", "an issue in another element"],
)
def test_a_journal_without_its_one_issue_is_left_to_the_tree(inner):
    assert not alike(journal_fields, fields_of, inner)


@pytest.mark.parametrize("inner", INFOS.values(), ids=INFOS)
def test_the_catalogue_says_what_its_tree_does(inner):
    assert alike(JOURNAL_INFOS.__getitem__, journals.info_fields, inner)


@pytest.mark.parametrize(("inner", "pages"), PAGES.values(), ids=PAGES)
def test_pages_are_those_of_the_tree(inner, pages):
    record = f"<PMID>1</PMID><Article><Pagination>{inner}</Pagination></Article>"
    read = article(fragment(f"<R><MedlineCitation>{record}</MedlineCitation></R>".encode())).pages
    assert page_range(inner) == read == pages

"""RIS and NBIB as other programs write them."""

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.files import read_references
from bio_mcp.literature.references.works import MOST


@pytest.mark.parametrize(
    ("fields", "pmid"),
    [
        ("DB  - PubMed\nAN  - 123", "123"),
        ("DP  - NLM pubmed\nAN  - 123", "123"),
        ("DB  - Scopus\nAN  - 123", ""),
        ("N1  - read twice; PMID: 123", "123"),
        ("C7  - pmid 123", "123"),
        ("N1  - seen by 123 people", ""),
    ],
)
def test_a_number_in_ris_is_a_pmid_only_where_the_file_says_so(fields, pmid):
    [only] = read_references(f"TY  - JOUR\nTI  - Some title\n{fields}\nER  - \n", "ris")
    assert only.pmid == pmid


@pytest.mark.parametrize(
    ("fields", "pages"),
    [
        ("SP  - 7\nEP  - 19", "7-19"),
        ("SP  - 7-19\nEP  - 19", "7-19"),
        ("SP  - e7", "e7"),
        ("EP  - 19", ""),
        ("M1  - 3", ""),
    ],
)
def test_pages_of_ris_are_joined_once(fields, pages):
    [only] = read_references(f"TY  - JOUR\nTI  - Some title\n{fields}\n", "ris")
    assert only.pages == pages


def test_a_record_that_is_not_ended_ends_where_the_next_begins_and_ends_alone_are_nothing():
    first, second = read_references(
        "ER  - \nER  - \nTY  - JOUR\nTI  - One title\nTY  - JOUR\nTI  - Two titles\nER  - \nER  -\n", "ris"
    )
    assert [(each.title, each.line) for each in (first, second)] == [("One title", 3), ("Two titles", 5)]


def test_text_before_the_first_tag_belongs_to_nothing():
    [only] = read_references("Exported by hand\n\nTY  - JOUR\nTI  - Some title\n", "ris")
    assert (only.title, only.line) == ("Some title", 3)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("FAU - Zhu, Na\nAU  - Zhu N", ("Zhu, Na",)),
        ("AU  - Zhu N\nAU  - Li N", ("Zhu N", "Li N")),
        ("CN  - The Group", ("The Group",)),
        ("IR  - Nobody N", ()),
    ],
)
def test_of_nbib_full_names_count_then_short_ones_then_groups(fields, found):
    [only] = read_references(f"PMID- 1\nTI  - Some title\n{fields}\n", "nbib")
    assert only.authors == found


@pytest.mark.parametrize(
    ("fields", "pages", "doi"),
    [
        ("AID - e1234 [pii]\nAID - 10.1000/A [doi]", "e1234", "10.1000/a"),
        ("PG  - 3-9\nLID - e1234 [pii]", "3-9", ""),
        ("AID - S0140-6736(20)31022-9 [pii]", "", ""),
        ("LID - 10.1000/b [doi]\nAID - 10.1000/a [doi]", "", "10.1000/a"),
    ],
)
def test_an_article_number_of_nbib_is_its_page_and_a_publishers_key_is_not(fields, pages, doi):
    [only] = read_references(f"PMID- 1\nTI  - Some title\n{fields}\n", "nbib")
    assert (only.pages, only.doi) == (pages, doi)


def test_a_preprint_of_nbib_is_one():
    [only] = read_references("PMID- 1\nTI  - Some title\nPT  - Journal Article\nPT  - Preprint\n", "nbib")
    assert only.kind == "preprint"


def test_one_record_more_than_are_read_is_refused():
    record = "TY  - JOUR\nTI  - Some title\nER  - \n"
    assert len(read_references(record * MOST, "ris")) == MOST
    with pytest.raises(InvalidInput, match="split it"):
        read_references(record * (MOST + 1), "ris")

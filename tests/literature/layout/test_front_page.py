"""Authors, year and journal as first pages print them."""

import pytest

from bio_mcp.literature.layout.front_page import Imprint, authors_in, imprint


@pytest.mark.parametrize(
    ("lines", "authors"),
    [
        (["Jane Q. Doe¹,²*, Jean-Paul van der Berg², and Mary O'Brien³"], "Doe JQ|van der Berg JP|O'Brien M"),
        (["Jane Doe¹ John Roe² Ana Poe¹", "¹ Zoo of Bern"], "Doe J|Roe J|Poe A"),
        (["JANE DOE, MD, PhD; JOHN ROE, MSc"], "Doe J|Roe J"),
        (["Jane Doeᵃ,ᵇ, John Roeᵇ,*", "a Institute of Mice"], "Doe J|Roe J"),
        (["Jane Doe, John", "Roe and Ana Poe"], "Doe J|Roe J|Poe A"),
        (["Jane Doe", "John Roe", "University of Mice"], "Doe J|Roe J"),
        (["by Jane Doe & John Roe"], "Doe J|Roe J"),
        (["Department of Mice, University of Bern"], ""),
        (["We saw in ten mice what sleep does to them."], ""),
        (["Received 1 May 2020"], ""),
        (["ทีมทดสอบ (เอกสารนี้)"], ""),
        (["Bern, Switzerland"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_the_names_below_a_title_are_its_authors(lines, authors):
    assert "|".join(authors_in(lines)) == authors


def test_a_header_tells_how_long_the_first_family_name_is():
    assert authors_in(["Ana Santos Monteiro¹, Jane Doe"], "Santos Monteiro") == ["Santos Monteiro A", "Doe J"]
    found = imprint("Sleep of mice", ["Ana Santos Monteiro¹"], ["Santos Monteiro et al. J Mice (2016) 13:22"], [], {})
    assert found == Imprint(("Santos Monteiro A",), 2016, "J Mice")


@pytest.mark.parametrize(
    ("line", "journal", "year"),
    [
        ("De Marchis et al. Journal of Mice and Men (2016) 13:22", "Journal of Mice and Men", 2016),
        ("Nutrients 2020, 12, 1234", "Nutrients", 2020),
        ("J Neuroeng Rehabil. 2016;13:22.", "J Neuroeng Rehabil", 2016),
        ("Journal of Mice 123 (2020) 456–470", "Journal of Mice", 2020),
        ("Proteomics 2020.20:1900123", "Proteomics", 2020),
        ("© 2016 De Marchis et al. Open Access", None, 2016),
        ("Copyright © The Author(s), 2019", None, 2019),
        ("Published online: 5 March 2016", None, 2016),
        ("Received: 1 May 2015 / Accepted: 2 June 2016", None, 2016),
        ("In 2016 they slept", None, None),
        ("Page 4 of 9", None, None),
    ],
)  # fmt: skip
def test_a_line_beside_the_text_names_journal_and_year(line, journal, year):
    found = imprint("Sleep of mice", [], [line], [], {})
    assert (found.journal, found.year) == (journal, year)


def test_a_paper_that_says_how_to_cite_it_is_believed_first():
    cite = (
        "Citation: Mendoza Andrade O, Wright Z. 2025. Analysis of Sleep in Mice. microPublication Biology. 10.17912/x.1"
    )
    found = imprint("Analysis of Sleep in Mice", ["Oscar Mendoza Andrade, Zach Wright"], ["© 2024"], [cite], {})
    assert found == Imprint(("Mendoza Andrade O", "Wright Z"), 2025, "microPublication Biology")


def test_what_the_file_says_counts_where_it_is_printed_too():
    stated = {"Author": "Jane Doe", "Subject": "Journal of Mice, 2016, doi:10.1000/x"}
    assert imprint("Sleep", ["A review by our", "guest Jane Doe"], [], [], stated).authors == ("Doe J",)
    assert imprint("Sleep", ["Somebody else"], [], [], stated) == Imprint((), 2016, "Journal of Mice")


def test_long_lines_are_read_in_bounded_time():
    long = "Ana Poe, " * 50_000
    assert len(imprint("Sleep", [long], [long, "x" * 500_000], [long], {"Subject": long}).authors) <= 300

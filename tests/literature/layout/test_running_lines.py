from dataclasses import replace

import pytest

from bio_mcp.literature.layout.reading_order import without_running_lines
from tests.literature.layout.pages import block, line, page, prose


def texts(pages):
    return [[each.text for each in page.lines] for page in without_running_lines(pages)]


def pages(head=None, count=4):
    return [
        page(*([head(number)] if head else []), block(prose(5, f"page {'abcdefgh'[number]}")), number=number)
        for number in range(1, count + 1)
    ]


def test_a_line_that_comes_again_at_its_place_goes_though_its_number_differs():
    assert texts(pages(lambda number: line(f"Doe et al. 2020 Page {number} of 9", y=30))) == texts(pages())


def test_a_line_that_comes_again_elsewhere_stays():
    assert "A line of the text" in texts(pages(lambda number: line("A line of the text", y=10 + 20 * number)))[0]


def test_a_line_with_a_number_that_grows_with_the_pages_goes():
    names = ["", "Doe and Roe", "A study of things", "Doe and Roe", "Things that were studied"]
    assert texts(pages(lambda number: line(f"{55 + number} {names[number]}", y=30))) == texts(pages())


@pytest.mark.parametrize(
    "text", ["7", "- 7 -", "Page 7 of 9", "Seite 7", "xii", "https://doi.org/10.1/x", "DOI 10.1234/a.b"]
)
def test_a_number_or_a_link_alone_in_the_margin_goes_from_a_single_page(text):
    assert texts([page(block(prose(5)), line(text, x=300, y=780))]) == texts([page(block(prose(5)))])


def test_a_number_alone_in_the_text_stays():
    assert "7" in texts([page(block(prose(5)), line("7", y=400), block(prose(5), y=450))])[0]


def test_a_stamp_on_its_side_goes_and_a_table_on_its_side_stays():
    stamp = line("arXiv:2001.00001v1 [q-bio] 1 Jan 2020", angle=90)
    table = block("\n".join(f"row {at} of a table that was set on its side" for at in range(6)), angle=90)
    assert texts([page(block(prose(5)), stamp)]) == texts([page(block(prose(5)))])
    assert len(texts([page(block(prose(5)), table)])[0]) == 11


def test_a_long_stamp_on_its_side_that_every_page_has_goes():
    stamp = block("\n".join(f"Downloaded from a library on a day, see the terms {at}" for at in "abcdef"), angle=270)
    stamped = [replace(each, lines=(*each.lines, *stamp)) for each in pages()]
    assert texts(stamped) == texts(pages())

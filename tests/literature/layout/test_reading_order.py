"""The order in which a page is read, and the running lines that are no part of it."""

from dataclasses import replace

import pytest

from bio_mcp.literature.layout.reading_order import in_reading_order, without_running_lines
from tests.literature.layout.pages import block, line, page, prose


def read(*parts):
    return [each.text for each in in_reading_order(page(*parts), 0)]


def test_the_left_column_is_read_before_the_right_one():
    left, right = block(prose(8, "left")), block(prose(8, "right"), x=320)
    both = [each for pair in zip(left, right, strict=True) for each in pair]
    assert read(both) == [each.text for each in (*left, *right)]


def test_what_spans_both_columns_is_read_between_what_is_above_and_below_it():
    above = block(prose(4, "left above")), block(prose(4, "right above"), x=320)
    across = line("a caption that goes across both columns and " * 2, y=170)
    below = block(prose(4, "left below"), y=200), block(prose(4, "right below"), x=320, y=200)
    found = read(*above, across, *below)
    assert found.index(across.text) == 8
    assert found[:4] == [each.text for each in above[0]]
    assert found[-4:] == [each.text for each in below[1]]


def test_three_columns_are_read_one_after_the_other():
    columns = [
        block("\n".join(f"{name} {at:02} of the text of it" for at in range(8)), x=x)
        for name, x in (("one", 40), ("two", 220), ("six", 400))
    ]
    assert [each[:3] for each in read(*columns)] == ["one"] * 8 + ["two"] * 8 + ["six"] * 8


def test_a_note_in_the_margin_is_no_part_of_the_lines_beside_it():
    margin = block("Academic editor\nSomebody Known\nPage count here", x=20, size=7)
    text = block(prose(20), x=180)
    assert read(*text, margin)[:3] == ["Academic editor", "Somebody Known", "Page count here"]
    assert read(*text, margin)[3:] == [each.text for each in text]


def test_lines_of_one_column_stay_whole_where_each_has_a_number_at_its_end():
    found = read([line("x = a + b", x=200, y=100), line("(1)", x=500, y=100), *block(prose(6), y=130)])
    assert found[0] == "x = a + b (1)"


def test_a_wide_block_that_the_right_column_is_set_around_is_of_the_left_one():
    wide = block("\n".join(f"abstract {at} of a text that is wider than its column is" for at in range(5)), x=50)
    left, around = (
        block(prose(8, "left"), y=180),
        block("\n".join("around it as it is" for _ in range(5)), x=410, y=104),
    )
    right = block(prose(8, "right"), x=320, y=180)
    assert read(*wide, *left, *around, *right) == [each.text for each in (*wide, *left, *around, *right)]


def test_turned_text_is_read_after_the_rest():
    turned = block(prose(5, "turned"), angle=90)
    assert read(turned, block(prose(5, "upright")))[0].startswith("upright")


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

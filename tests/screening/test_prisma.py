"""The flow diagram: its numbers are those of the flow, and its text can be read by a program."""

import re
from datetime import date
from xml.etree import ElementTree

import pytest

from bio_mcp.screening.prisma import Flow, Identified, prisma_svg

SVG = "{http://www.w3.org/2000/svg}"
WHOLE = Flow(
    sources=(
        Identified("PubMed", "database", 412),
        Identified("Embase", "database", 1_655),
        Identified("chosen by hand", "other", 4),
    ),
    duplicates_removed=388,
    not_delivered=3,
    screened=1_602,
    excluded=1_542,
    sought=60,
    not_retrieved=5,
    assessed=50,
    excluded_by_reason=(("wrong <population> & age", 24), ("no control", 12)),
    included=14,
    undecided=78,
    unassessed=5,
)


def drawn(flow=WHOLE, name="statins"):
    return ElementTree.fromstring(prisma_svg(flow, name, date(2026, 5, 1)))


def texts(picture):
    return [each.text for each in picture.iter(f"{SVG}tspan")]


def test_every_number_of_the_flow_is_in_the_picture_by_its_name_in_prisma_2020():
    assert texts(drawn()) == [
        "Records identified from (n = 2,071)",
        "Embase (n = 1,655)",
        "PubMed (n = 412)",
        "chosen by hand (n = 4)",
        "Records removed before screening",
        "Duplicate records (n = 388)",
        "Records that could not be had (n = 3)",
        "Records screened (n = 1,602)",
        "Records not screened yet (n = 78)",
        "Records excluded (n = 1,542)",
        "Reports sought for retrieval (n = 60)",
        "Reports not retrieved (n = 5)",
        "Reports assessed for eligibility (n = 50)",
        "Reports not assessed yet (n = 5)",
        "Reports excluded (n = 36)",
        "wrong <population> & age (n = 24)",
        "no control (n = 12)",
        "Reports included in review (n = 14)",
    ]


def test_the_numbers_in_the_picture_add_up():
    shown = {each.partition(" (n")[0]: int(re.sub(r"\D", "", each.partition("(n")[2]) or 0) for each in texts(drawn())}
    removed = shown["Duplicate records"] + shown["Records that could not be had"]
    screened = shown["Records screened"] + shown["Records not screened yet"]
    assert shown["Records identified from"] - removed - 78 == screened - 78 == 1_602


def test_a_screen_reader_is_told_what_the_picture_says():
    picture = drawn(name="statins <b>")
    title, description = picture.find(f"{SVG}title"), picture.find(f"{SVG}desc")
    assert picture.get("role") == "img"
    assert picture.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == "PRISMA 2020 flow of statins <b>"
    assert all(each in description.text for each in texts(picture))


def test_a_review_that_is_done_has_no_boxes_for_what_is_left():
    done = Flow((), 0, 0, 0, 0, 0, 0, 0, (), 0, 0, 0)
    assert not any("yet" in each for each in texts(drawn(done)))


@pytest.mark.parametrize("sources", [0, 1, 40])
def test_nothing_is_drawn_outside_of_the_picture_or_over_another_box(sources):
    many = tuple(Identified(f"Database {at}, with a name that is rather long", "database", 1) for at in range(sources))
    picture = drawn(Flow(many, 0, 0, sources, 0, 0, 0, 0, (), 0, 0, 0))
    width, height = (float(each) for each in picture.get("viewBox").split()[2:])
    boxes = [[float(each.get(name)) for name in ("x", "y", "width", "height")]
             for each in picture.iter(f"{SVG}rect") if each.get("x")]  # fmt: skip
    for x, y, wide, high in boxes:
        assert x >= 0
        assert y >= 0
        assert x + wide <= width
        assert y + high <= height
    for at, (x, y, wide, high) in enumerate(boxes):
        for other_x, other_y, other_wide, other_high in boxes[at + 1 :]:
            apart = x + wide <= other_x or other_x + other_wide <= x or y + high <= other_y or other_y + other_high <= y
            assert apart

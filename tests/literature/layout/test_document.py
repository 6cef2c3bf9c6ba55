"""Whole documents, from lines to sections."""

import pytest

from bio_mcp.literature.documents import SectionKind
from bio_mcp.literature.layout.document import lay_out
from bio_mcp.literature.layout.headings import is_evidence
from tests.literature.layout.pages import block, line, page, prose


def heading(text, y, x=50.0, **kind):
    return line(text, x, y, **{"size": 12, "bold": True, **kind})


def outlined(document):
    return [(each.path, each.kind.value) for each in document.sections]


def paths(*parts, **more):
    return [each.path for each in lay_out([page(*parts)], **more).sections]


TITLE = line("A study of sleep in mice", y=60, size=18)


def test_headings_nest_by_number():
    parts = [heading("1. Introduction", 100), block(prose(6), y=120), heading("2. Methods", 220)]
    parts += [
        heading("2.1 Animals", 240, size=10),
        block(prose(6), y=260),
        heading("3. Results", 350),
        block(prose(6), y=370),
    ]
    assert paths(TITLE, *parts) == [
        ("Title page",),
        ("1. Introduction",),
        ("2. Methods",),
        ("2. Methods", "2.1 Animals"),
        ("3. Results",),
    ]


def test_headings_without_numbers_nest_by_their_type():
    parts = [heading("Methods", 100), heading("Animals", 120, size=10), block(prose(6), y=140)]
    parts += [heading("Housing of mice", 240, size=10, bold=False, italic=True, font="Italic"), block(prose(6), y=255)]
    parts += [heading("Results", 350), block(prose(6), y=370)]
    assert paths(*parts) == [
        ("Methods",),
        ("Methods", "Animals"),
        ("Methods", "Animals", "Housing of mice"),
        ("Results",),
    ]


def test_a_bookmark_says_how_deep_a_heading_is():
    parts = [heading("Of mice", 100), block(prose(6), y=120), heading("Of men", 220), block(prose(6), y=240)]
    outline = [(1, "Of mice", 1), (1, "Of  men", 2)]
    assert paths(*parts, outline=outline) == [("Of mice",), ("Of mice", "Of men")]


def test_a_heading_of_two_lines_is_one():
    lines = block("Effects of the treatment on\nthe sleep of mice", y=100, size=12, bold=True)
    assert paths(lines, block(prose(6), y=140)) == [("Effects of the treatment on the sleep of mice",)]


def test_entries_of_a_table_of_contents_are_no_headings():
    entries = [heading("1. Introduction", 90), heading("2. Methods", 120), heading("List of figures 9", 150)]
    first = page(heading("Contents", 60), *entries, number=1)
    parts = [
        heading("1. Introduction", 60),
        block(prose(6), y=80),
        heading("2. Methods", 180),
        block(prose(6, "more"), y=200),
    ]
    document = lay_out([first, page(*parts, number=2)])
    assert [(each.path, each.page_span) for each in document.sections if each.path] == [
        (("Title page",), (1, 1)),
        (("1. Introduction",), (2, 2)),
        (("2. Methods",), (2, 2)),
    ]


def test_bold_text_of_many_lines_is_no_heading():
    bold = block(prose(6), y=60, bold=True, font="Serif-Bold")
    assert set(paths(bold, block(prose(8), y=160))) == {()}


def test_the_title_is_the_largest_line_before_the_first_heading_and_begins_the_text():
    document = lay_out([page(TITLE, line("Jane Doe", y=80), heading("Abstract", 100), block(prose(6), y=120))])
    assert document.title == "A study of sleep in mice"
    assert document.sections[0].text.startswith("A study of sleep in mice\n\nJane Doe")
    assert document.sections[1].path == ("Abstract",)


def test_a_title_that_only_the_files_metadata_say_is_not_believed():
    metadata = {"Title": "Microsoft Word - template.doc"}
    assert lay_out([page(block(prose(6)))], metadata=metadata).title is None
    named = page(block("Sleep in mice\n" + prose(6)))
    assert lay_out([named], metadata={"Title": "Sleep in Mice"}).title == "Sleep in Mice"


def test_references_are_apart_and_what_follows_them_is_text_again():
    entries = block("1. Doe J. A first work on\nsleep. 2001.\n2. Roe R. A second. 2002.", y=240, size=8)
    parts = [heading("Results", 100), block(prose(8), y=120), heading("References", 225), entries]
    parts += [heading("Appendix A", 300), block(prose(6), y=320)]
    document = lay_out([page(*parts)])
    assert outlined(document) == [(("Results",), "body"), (("References",), "references"), (("Appendix A",), "body")]
    assert document.sections[1].text == "1. Doe J. A first work on sleep. 2001.\n\n2. Roe R. A second. 2002."


def test_a_caption_is_a_section_after_the_sentence_that_it_interrupts():
    first = page(
        heading("Results", 60), block(prose(6)[:-1], y=80), line("Figure 1. Mice asleep", y=300, size=8), number=1
    )
    second = page(block("goes on here.\n" + prose(5, "more"), y=60), number=2)
    document = lay_out([first, second])
    assert [each.text[:21] for each in document.sections] == ["word 00 of a text tha", "Figure 1. Mice asleep"]
    assert "goes on here." in document.sections[0].text
    assert document.sections[0].page_span == (1, 2)
    assert document.sections[1].page_span == (1, 1)
    assert document.sections[1].path == ("Results",)


def test_a_caption_that_goes_on_overleaf_is_whole():
    caption = block(
        "Figure 1. Mice asleep in the laboratory, which are\nshown in the colours that they had before the given", y=700
    )
    first = page(heading("Results", 60), block(prose(8), y=80), caption, number=1)
    document = lay_out([first, page(block("gene was taken out.\n", y=60), block(prose(8, "more"), y=100), number=2)])
    assert document.sections[1].text.endswith("before the given gene was taken out.")
    assert document.sections[1].page_span == (1, 2)
    assert "gene" not in document.sections[0].text


ABSTRACT = "\n".join(f"We saw in {at} mice what sleep does. It was good for them in all ways." for at in "abcdefgh")


def test_an_abstract_without_a_heading_is_found_by_its_prose():
    parts = [
        TITLE,
        line("Jane Doe", y=80),
        block(ABSTRACT, y=110),
        heading("1. Introduction", 250),
        block(prose(6), y=270),
    ]
    document = lay_out([page(*parts)])
    assert [each.path for each in document.sections] == [("Title page",), ("Abstract",), ("1. Introduction",)]
    assert document.sections[1].text.startswith("We saw in a mice")


def test_references_without_a_heading_are_found_by_their_numbers():
    entries = "\n".join(f"[{at}] J. Doe, Sleep of mice, volume {at}, 20{at:02}." for at in range(1, 9))
    steps = "\n".join(f"{at}. Do this with the mice" for at in range(1, 9))
    parts = [
        heading("Methods", 60),
        block(steps, y=80),
        heading("Results", 200),
        block(prose(6), y=220),
        block(entries, y=310, size=8),
    ]
    document = lay_out([page(*parts)])
    assert outlined(document) == [(("Methods",), "body"), (("Results",), "body"), (("References",), "references")]
    assert document.sections[2].text.count("\n\n") == 7


def test_a_footnote_stands_in_no_sentence():
    note = line("* Correspondence: jane@example.org", y=750, size=7)
    first = page(TITLE, heading("Introduction", 80), block(prose(8)[:-1], y=100), note, number=1)
    later = page(block("goes on here.\n" + prose(8, "more"), y=60), line("† A later note", y=750, size=7), number=2)
    document = lay_out([first, later])
    assert [each.path for each in document.sections] == [
        ("Title page",),
        ("Title page",),
        ("Introduction",),
        ("Footnotes",),
    ]
    assert document.sections[1].text == "* Correspondence: jane@example.org"
    assert document.sections[3].text == "† A later note"


def test_where_a_page_begins_is_exact():
    pages = [page(block(prose(4, f"p{'abc'[at]}"), y=100), number=at + 1) for at in range(3)]
    (section,) = lay_out(pages).sections
    assert [section.text[at : at + 5] for at, _ in section.page_starts] == ["pa 00", "pb 00", "pc 00"]
    assert [number for _, number in section.page_starts] == [1, 2, 3]


def test_a_paragraph_begins_after_a_gap_and_at_an_indent():
    text = prose(3, "one") + "\n\n" + prose(3, "two")
    indented = block(prose(3, "six"), y=100 + 7 * 12)
    indented[0] = line(indented[0].text, x=62, y=indented[0].y)
    assert [each[:6] for each in lay_out([page(block(text), indented)]).sections[0].text.split("\n\n")] == [
        "one 00",
        "two 00",
        "six 00",
    ]


def test_doi_and_pmid_are_the_documents_own():
    cited = block("1. Doe J. A work. doi:10.9999/cited. PMID: 111.", y=300)
    parts = [TITLE, heading("Introduction", 100), block(prose(6), y=120), heading("References", 280), cited]
    assert lay_out([page(*parts)]).doi is None
    assert lay_out([page(*parts, line("https://doi.org/10.1234/Own.5", y=30, size=8))]).doi == "10.1234/own.5"
    cite = block("Citation: Doe J. A Study of Sleep in Mice. J Mice. 10.1234/own.5", y=240)
    assert lay_out([page(*parts, cite)]).doi == "10.1234/own.5"
    assert lay_out([page(*parts)]).pmid is None
    assert lay_out([page(*parts, line("PMID: 222", y=80, size=8))]).pmid == "222"


def test_pages_without_lines_make_a_document_without_sections():
    document = lay_out([page(number=1), page(number=2)])
    assert (document.sections, document.title, document.doi) == ((), None, None)


def test_a_heading_within_the_first_line_of_what_follows_the_text_is_one():
    parts = [heading("Results", 100), block(prose(6), y=120), block("Funding: A grant of the state.", y=230)]
    document = lay_out([page(*parts)])
    assert document.sections[-1].path == ("Funding",)
    assert document.sections[-1].text == "A grant of the state."
    assert document.sections[-1].kind is SectionKind.BODY


def test_a_box_adopts_no_sections():
    parts = [heading("2 Methods", 60), heading("2.1 Animals", 80, size=10), block(prose(6), y=95)]
    parts += [heading("Significance Statement", 190, size=11), block(prose(5, "box"), y=205, font="Sans")]
    parts += [heading("2.2 Housing", 290, size=10), block(prose(6, "more"), y=305), heading("3 Results", 400)]
    assert paths(*parts, block(prose(6), y=415)) == [
        ("2 Methods",),
        ("2 Methods", "2.1 Animals"),
        ("Significance Statement",),
        ("2 Methods", "2.2 Housing"),
        ("3 Results",),
    ]


def test_a_box_between_sections_without_numbers_adopts_none_of_them():
    parts = [heading("Methods", 60), heading("Animals", 80, size=10), block(prose(6), y=95)]
    parts += [heading("Key Points", 190, size=13), block(prose(5, "box"), y=205)]
    parts += [heading("Housing", 290, size=10), block(prose(6, "more"), y=305)]
    assert paths(*parts) == [("Methods",), ("Methods", "Animals"), ("Key Points",), ("Methods", "Housing")]


def test_what_a_box_interrupts_goes_on_after_it():
    parts = [heading("Methods", 60), heading("Animals", 80, size=10), block(prose(6)[:-1] + "\n", y=95)]
    parts += [heading("Key Points", 190, size=13), block(prose(5, "box"), y=205, font="Sans")]
    parts += [block("goes on here and is a text that is as long as others.\n" + prose(5, "more"), y=290)]
    document = lay_out([page(*parts)])
    assert [each.path for each in document.sections] == [("Methods",), ("Methods", "Animals"), ("Key Points",)]
    assert "its column goes on here and is" in document.sections[1].text
    assert document.sections[2].text.startswith("box 00")
    assert "goes on" not in document.sections[2].text


EQUATION = [
    line("Sensitivity =", 80, 190),
    line("True positives", 150, 184, italic=True, font="Italic"),
    line("True positives and others", 150, 197, size=7, italic=True, font="Italic"),
    line("(1)", 300, 190),
]


def test_a_part_of_an_equation_is_no_heading():
    parts = [heading("Methods", 60), block(prose(6), y=80), EQUATION, block(prose(6, "more"), y=215)]
    assert paths(*parts) == [("Methods",)]
    assert paths(
        heading("Methods", 60), block(prose(6), y=80), heading("Study 1 (N = 20)", 170), block(prose(6), y=190)
    )


def test_small_headings_below_a_combined_section_are_its_subsections():
    small = {"size": 10, "bold": True}
    parts = [heading("Results and Discussion", 60), heading("Mice that sleep", 80, **small), block(prose(6), y=95)]
    parts += [heading("Mice that wake", 190, **small), block(prose(6), y=205), heading("Conclusions", 300)]
    parts += [block(prose(6), y=315), heading("Acknowledgements", 400, **small), block(prose(2), y=415)]
    parts += [heading("Funding", 450, **small), block(prose(2), y=465)]
    parts += [heading("Author contributions", 500, **small), block(prose(2), y=515)]
    assert paths(*parts) == [
        ("Results and Discussion",),
        ("Results and Discussion", "Mice that sleep"),
        ("Results and Discussion", "Mice that wake"),
        ("Conclusions",),
        ("Acknowledgements",),
        ("Funding",),
        ("Author contributions",),
    ]


def run_in(text, y, lead, x=50.0):
    return [line(text, x, y, mixed=True, lead=lead), *block(prose(5), y=y + 12)]


def test_headings_in_the_first_line_of_their_text_are_subsections():
    parts = [heading("Results and Discussion", 60), block(prose(3), y=80)]
    parts += [run_in("Sleep of mice. They sleep as long as they may in", 120, 14)]
    parts += [run_in("Diet: They eat whatever is given to them at all", 200, 4)]
    parts += [run_in("Figure 1. It shows the mice asleep as they were.", 290, 9), heading("Conclusions", 400)]
    document = lay_out([page(*parts, block(prose(6), y=415))])
    assert list(dict.fromkeys(each.path for each in document.sections)) == [
        ("Results and Discussion",),
        ("Results and Discussion", "Sleep of mice"),
        ("Results and Discussion", "Diet"),
        ("Conclusions",),
    ]
    assert document.sections[1].text.startswith("They sleep as long as they may in word 00")


def test_labels_of_an_abstract_are_no_headings():
    abstract = [line("Purpose of it: We saw in mice what sleep does to a", y=100, mixed=True, lead=14)]
    parts = [TITLE, heading("Abstract", 80), abstract, block(prose(5), y=112), heading("Methods", 200)]
    document = lay_out([page(*parts, block(prose(6), y=220))])
    assert [each.path for each in document.sections] == [("Title page",), ("Abstract",), ("Methods",)]
    assert document.sections[1].text.startswith("Purpose of it: We saw in mice")


def test_several_that_stand_below_an_only_subsection_with_a_text_are_its_neighbours():
    italic = {"size": 10, "bold": False, "italic": True, "font": "Italic"}
    first = [heading("Results", 60), heading("Sleep", 80, size=10), block(prose(4), y=95)]
    first += [heading("Food", 150, size=10), block(prose(4), y=165)]
    parts = [*first, heading("Discussion", 230), heading("What is new", 250, size=10), block(prose(4), y=265)]
    parts += [heading("Use of it", 330, **italic), block(prose(4), y=345)]
    parts += [heading("What it lacks", 410, **italic), block(prose(4), y=425)]
    assert paths(*parts)[-3:] == [
        ("Discussion", "What is new"),
        ("Discussion", "Use of it"),
        ("Discussion", "What it lacks"),
    ]


def test_what_says_something_before_the_first_heading_is_no_title_page():
    prose = block(
        "We saw in ten mice what sleep does to them and to\ntheir food, and it was good for all of them.", y=110
    )
    document = lay_out([page(TITLE, line("Jane Doe", y=80), prose, heading("Methods", 200), block(ABSTRACT, y=220))])
    assert [each.path for each in document.sections] == [(), ("Methods",)]


@pytest.mark.parametrize(
    ("heading", "says"),
    [
        ("Funding", False),
        ("Conflict of Interest Statement", False),
        ("Authors’ contributions", False),
        ("5. References", False),
        ("Copyright", False),
        ("Title page", False),
        ("History", True),
        ("Appendix A", True),
        ("Data availability", True),
        ("Copyright law and mice", True),
    ],
)
def test_which_sections_may_say_something(heading, says):
    assert is_evidence(("Discussion", heading)) is says
    assert is_evidence((heading, "Mice")) is says

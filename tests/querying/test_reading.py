import pytest

from bio_mcp.literature.documents import Table, TextSection
from bio_mcp.querying.full_text import choose, fit, length

TABLE = Table("Table 1", "Doses", ("a | b", "1 | 2"))
SECTIONS = (
    TextSection("Introduction", 1, "One sentence. " * 30),
    TextSection("Methods", 1, "How it was done.", (TABLE,)),
    TextSection("Patients", 2, "Who took part."),
    TextSection("Statistics", 3, "How it was counted."),
    TextSection("Results", 1, "What was found."),
)


def titles(sections):
    return [section.title for section in sections]


def test_a_section_is_chosen_with_what_stands_below_it():
    assert titles(choose(SECTIONS, ["METHOD"])) == ["Methods", "Patients", "Statistics"]
    assert titles(choose(SECTIONS, ["patients", "results"])) == ["Patients", "Statistics", "Results"]
    assert titles(choose(SECTIONS, [])) == titles(SECTIONS)
    assert choose(SECTIONS, ["discussion"]) == []


@pytest.mark.parametrize("budget", [10, 250, 300, 435, 500, 520, 600, 100_000])
@pytest.mark.parametrize("with_tables", [True, False])
def test_what_is_shown_never_exceeds_the_budget_and_nothing_is_lost(budget, with_tables):
    shown = fit(SECTIONS, budget, with_tables)
    texts = sum(length(section) for section in shown.sections)
    assert texts <= max(budget, 10) + len(shown.cut or "")
    named = titles(shown.sections) + list(shown.left_out)
    assert named == titles(SECTIONS)
    for section, whole in zip(shown.sections, SECTIONS, strict=False):
        assert whole.text.startswith(section.text)
        assert section.text == whole.text or section.title == shown.cut


def test_a_cut_ends_with_a_sentence():
    shown = fit(SECTIONS, 300, with_tables=True)
    assert shown.cut == "Introduction"
    assert shown.sections[0].text.endswith("sentence.")


def test_a_section_whose_table_has_no_room_is_reported_to_be_cut():
    before = length(SECTIONS[0])
    section = TextSection("Methods", 1, "How it was done. " * 20, (TABLE,))
    shown = fit([SECTIONS[0], section], before + length(section) - 5, with_tables=True)
    assert (shown.cut, shown.sections[1].tables) == ("Methods", ())

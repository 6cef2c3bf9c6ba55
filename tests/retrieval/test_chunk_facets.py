import pytest

from bio_mcp.retrieval.project_chunks import ChunkFilters, ProjectChunk, Work, author_names, folded, section_of
from tests.support.reference_indexes import passes

WORK = Work("d1", citekey="doe2020", year=2020, authors=("Doe J", "van der Berg JA 3rd"), tags=("Heart Failure", "RCT"))


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Doe J", {"doe j", "doe"}),
        ("Doe, Jane", {"doe, jane", "doe"}),
        ("Doe Jane", {"doe jane", "doe"}),
        ("van der Berg JA 3rd", {"van der berg ja 3rd", "van der berg"}),
        ("Müller-Lüdenscheidt J.-P.", {"müller-lüdenscheidt j.-p.", "müller-lüdenscheidt"}),
        ("Mu\u0308ller K", {"müller k", "müller"}),
        ("Li XY", {"li xy", "li"}),
        ("WHO", {"who"}),
        ("", set()),
        (",", {","}),
    ],
)
def test_an_author_is_found_as_stored_and_by_the_family_name(author, names):
    assert author_names(author) == names


def test_case_width_of_spaces_and_composition_do_not_count():
    assert folded(" STRASSE \n Mu\u0308ller") == folded("straße müller") == "strasse müller"


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (ChunkFilters(), True),
        (ChunkFilters(tags=frozenset({"heart failure", "rct"})), True),
        (ChunkFilters(tags=frozenset({"heart failure", "cohort"})), False),
        (ChunkFilters(citekeys=frozenset({"doe2020", "other"})), True),
        (ChunkFilters(citekeys=frozenset({"Doe2020"})), False),
        (ChunkFilters(authors=frozenset({"VAN DER BERG", "nobody"})), True),
        (ChunkFilters(authors=frozenset({"berg"})), False),
        (ChunkFilters(doc_ids=frozenset({"d1"})), True),
        (ChunkFilters(doc_ids=frozenset({"D1"})), False),
        (ChunkFilters(year_from=2020, year_to=2020), True),
        (ChunkFilters(year_from=2021), False),
        (ChunkFilters(year_to=2019), False),
        (ChunkFilters(tags=frozenset({"rct"}), year_to=2019), False),
    ],
)
def test_filters_of_a_work(filters, found):
    assert passes(ProjectChunk("c", WORK, "t"), filters) is found


@pytest.mark.parametrize("filters", [ChunkFilters(year_from=1), ChunkFilters(year_to=3000)])
def test_a_work_without_a_year_is_of_no_year(filters):
    assert not passes(ProjectChunk("c", Work("d2"), "t"), filters)


def test_a_section_is_its_headings_from_the_top_or_its_own():
    assert section_of(ProjectChunk("c", WORK, "t", section="Dosing", section_path=("Part I", "Dosing"))) == (
        "part i > dosing"
    )
    assert section_of(ProjectChunk("c", WORK, "t", section="Dosing")) == "dosing"
    assert section_of(ProjectChunk("c", WORK, "t")) == ""

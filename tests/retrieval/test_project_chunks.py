from itertools import product

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.retrieval.project_chunks import (
    ProjectChunk,
    Work,
    author_names,
    collection_name,
    folded,
    section_of,
)

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


def test_a_section_is_its_headings_from_the_top_or_its_own():
    assert section_of(ProjectChunk("c", WORK, "t", section="Dosing", section_path=("Part I", "Dosing"))) == (
        "part i > dosing"
    )
    assert section_of(ProjectChunk("c", WORK, "t", section="Dosing")) == "dosing"
    assert section_of(ProjectChunk("c", WORK, "t")) == ""


def test_the_name_of_the_contract():
    assert collection_name("citeloom/clean-arch") == "proj-citeloom-clean-arch"


def test_no_two_projects_share_a_collection():
    ids = {"".join(each) for length in range(1, 8) for each in product("a-/", repeat=length)}
    allowed = [each for each in ids if all(part and part[0] == "a" for part in each.split("/"))]
    assert len({collection_name(each) for each in allowed}) == len(allowed) > 100


def test_a_hash_that_somebody_writes_as_an_id_is_another_name():
    hashed = collection_name("a-b/c")
    assert collection_name(hashed.removeprefix("proj--")) != hashed


@pytest.mark.parametrize(
    "project_id",
    ["", "/", "a/", "/a", "a//b", "../a", "a/../b", "A", "a b", "a*", "a,b", "_all", ".a", "-a", "ก", "a" * 101],
)
def test_what_could_name_something_else_is_no_id(project_id):
    with pytest.raises(InvalidInput, match="cannot be the id of a project"):
        collection_name(project_id)

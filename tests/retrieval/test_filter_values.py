"""Publication types and languages, as people write them."""

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.languages import MARC
from bio_mcp.literature.quality import DESIGNS
from bio_mcp.retrieval.filter_values import PUBLICATION_TYPES, language, publication_type, with_narrower_types


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("Review", "D016454"),
        ("reviews", "D016454"),
        (" practice guideline ", "D017065"),
        ("Retracted Publication", "D016441"),
        ("retraction of publication", "D016440"),
        ("Case Reports", "D002363"),
        ("case report", "D002363"),
        ("Clinical Trial, Phase III", "D017428"),
        ("phase III clinical trial", "D017428"),
        ("phase 3 trials", "D017428"),
        ("Phase I", "D017426"),
        ("phase iv trial", "D017429"),
        ("randomised controlled trial", "D016449"),
        ("RCT", "D016449"),
        ("RCTs", "D016449"),
        ("meta-analyses", "D017418"),
        ("Multicentre Study", "D016448"),
        ("Validation Studies", "D023361"),
        ("Research Support, NIH, Extramural", "D052061"),
        ("Research Support, U.S. Gov’t, P.H.S.", "D013487"),
        ("Consensus Development Conference, NIH", "D016447"),
        ("scoping reviews", "scoping review"),
        ("d016454", "D016454"),
        ("D000078182", "D000078182"),
    ],
)
def test_a_publication_type_has_many_names(written, stored):
    assert publication_type(written) == stored


def test_every_name_of_pubmed_and_of_our_own_is_known_and_stands_for_one_type():
    assert {name: publication_type(name) for name in PUBLICATION_TYPES} == PUBLICATION_TYPES
    assert {ui: publication_type(name) for ui, (_, name) in DESIGNS.items()} == {ui: ui for ui in DESIGNS}
    assert len(set(PUBLICATION_TYPES.values())) == len(PUBLICATION_TYPES)


@pytest.mark.parametrize(
    ("written", "near"),
    [
        ("Randomised Controled Trail", "did you mean Randomized Controlled Trial"),
        ("Sistematic Review", "did you mean Systematic Review"),
        ("observation study", "did you mean Observational Study"),
        ("poem", "such as Review"),
        ("", "such as Review"),
        ("x" * 100_000, "such as Review"),
    ],
)
def test_an_unknown_publication_type_is_refused_with_the_nearest(written, near):
    with pytest.raises(InvalidInput, match=near) as refused:
        publication_type(written, "filters.publication_types")
    assert refused.value.details == {"field": "filters.publication_types"}


def test_narrower_types_are_found_with_a_type():
    found = with_narrower_types(publication_type("Clinical Trial"))
    assert {"D016430", "D016449", "D017428", "D065007"} <= found
    assert not found & {"D064888", "D016454"}
    assert with_narrower_types("D016454") == {"D016454"}
    assert with_narrower_types("D999999") == {"D999999"}


@pytest.mark.parametrize(
    ("written", "code"),
    [("English", "eng"), ("german", "ger"), ("de", "ger"), ("deu", "ger"), ("ger", "ger"), ("DE-AT", "ger"),
     ("Scottish  Gaelic", "gla"), ("zh", "chi"), ("zho", "chi"), ("no", "nor"), ("multiple languages", "mul"),
     ("und", "und"), ("ไทย", "tha")],
)  # fmt: skip
def test_a_language_is_given_by_name_or_code(written, code):
    assert language(written) == code


def test_every_language_of_pubmed_is_known_by_each_of_its_names():
    assert [code for code, names in MARC.items() for each in (code, *names) if language(each) != code] == []


@pytest.mark.parametrize(
    ("written", "near"), [("Germn", "did you mean German"), ("Klingon", "such as"), ("", "such as")]
)
def test_an_unknown_language_is_refused_with_the_nearest(written, near):
    with pytest.raises(InvalidInput, match=near):
        language(written)

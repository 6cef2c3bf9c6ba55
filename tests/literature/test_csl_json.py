"""Lists of references in CSL-JSON, as programs write them, and the works that are found in them."""

import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.descriptions import Description, parse_csl_json

TITLE = "Multi-contact electrical stimulation"


def read(*items):
    return parse_csl_json(json.dumps(items).encode())


def described(item, **known):
    """What the list says of its one work, found by a citekey."""
    return read({"id": "x", **item}).match(Description(citekey=known.get("citekey", "x")), "a.pdf")


@pytest.mark.parametrize(
    ("item", "field", "value"),
    [
        ({"DOI": "https://doi.org/10.1000/ABC"}, "doi", "10.1000/abc"),
        ({"DOI": "none"}, "doi", None),
        ({"PMID": 123}, "pmid", "123"),
        ({"note": "read\nPMID: 0123\nPMCID: PMC7"}, "pmid", "123"),
        ({"note": "PMCID: PMC7"}, "pmcid", "PMC7"),
        ({"title": "On <i>Drosophila</i> <sub>2</sub>"}, "title", "On Drosophila 2"),
        ({"issued": {"date-parts": [[2016, 5, 1]]}}, "year", 2016),
        ({"issued": {"date-parts": [["2016"]]}}, "year", 2016),
        ({"issued": {"raw": "May 2016"}}, "year", 2016),
        ({"issued": {"date-parts": [[None]]}}, "year", None),
        ({"issued": "2016"}, "year", 2016),
        ({"author": [{"family": "Doe", "given": "Jane Q."}]}, "authors", ("Doe JQ",)),
        (
            {"author": [{"family": "Berg", "non-dropping-particle": "van der", "given": "J.-P."}]},
            "authors",
            ("van der Berg JP",),
        ),
        ({"author": [{"literal": "ทีมทดสอบ"}, 7, {}]}, "authors", ("ทีมทดสอบ",)),
        ({"editor": [{"family": "Roe"}]}, "authors", ("Roe",)),
        ({"keyword": "heart; review, "}, "tags", ("heart", "review")),
        ({"URL": "javascript:alert(1)"}, "url", None),
        ({"URL": "https://example.org/a"}, "url", "https://example.org/a"),
        ({"title": {"a": "b"}, "author": "Doe", "DOI": {}, "issued": []}, "title", None),
        ({"title": ["a"]}, "title", "a"),
    ],
)
def test_a_field_is_read_in_the_forms_that_programs_write(item, field, value):
    assert getattr(described(item), field) == value


def test_a_citekey_is_the_one_of_better_bibtex_where_it_has_one():
    assert described({"citation-key": "doe2020"}, citekey="doe2020").citekey == "doe2020"
    assert described({"note": "Citation Key: roe2021"}, citekey="roe2021").citekey == "roe2021"


def test_a_list_may_stand_in_an_object():
    works = parse_csl_json(json.dumps({"items": [{"id": "doe2020", "title": TITLE}]}).encode())
    assert works.match(Description(), "doe2020.pdf").title == TITLE


@pytest.mark.parametrize("content", [b"", b"%PDF", b"\xff", b'"text"', b"{}", b"7", b"[" * 100_000])
def test_what_is_no_list_of_references_is_refused(content):
    with pytest.raises(InvalidInput, match="CSL JSON"):
        parse_csl_json(content)


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (Description(doi="10.1000/a"), "x.pdf"),
        (Description(title=TITLE.upper() + "."), "x.pdf"),
        (Description(), "Doe2020.pdf"),
        (Description(), "Doe et al. - 2020 - Multi-contact electrical.pdf"),
        (Description(), "deep/Multi-contact electrical stimulation.pdf"),
    ],
)
def test_a_work_is_found_by_id_title_or_the_name_of_its_file(known, name):
    references = read({"id": "doe2020", "DOI": "10.1000/a", "title": TITLE}, {"id": "roe", "title": "Another work"})
    assert references.match(known, name).citekey == "doe2020"


@pytest.mark.parametrize(
    ("known", "name"),
    [
        (Description(), "x.pdf"),
        (Description(), ".pdf"),
        (Description(), "Multi.pdf"),
        (Description(title="Multi-contact"), "x.pdf"),
        (Description(title="Editorial comment"), "x.pdf"),
    ],
)
def test_a_work_is_not_found_by_too_little_or_when_there_are_several(known, name):
    twice = [{"id": f"e{n}", "title": "Editorial comment"} for n in range(2)]
    assert read({"id": "doe2020", "title": TITLE}, {"title": ""}, *twice).match(known, name) is None


def test_an_id_counts_more_than_a_title_and_a_title_more_than_a_name():
    references = read(
        {"id": "by-id", "DOI": "10.1000/a"},
        {"id": "by-title", "title": TITLE},
        {"id": "by-name", "title": "Another one"},
    )
    assert references.match(Description(doi="10.1000/a", title=TITLE), "by-name.pdf").citekey == "by-id"
    assert references.match(Description(title=TITLE), "by-name.pdf").citekey == "by-title"

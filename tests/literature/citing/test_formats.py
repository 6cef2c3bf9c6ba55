"""RIS, BibTeX and CSL-JSON, read back by the parsers that others use."""

import json
import re

import pybtex.database
import rispy

from tests.cases import case
from tests.literature.citing.goldens import goldens
from tests.literature.citing.raw import facts
from tests.validation import validate

PMIDS = sorted(goldens(), key=int)
NAME = {
    "type": "object",
    "properties": {part: {"type": "string", "minLength": 1} for part in ("family", "given", "suffix", "literal")},
    "additionalProperties": False,
    "anyOf": [{"required": ["family"]}, {"required": ["literal"]}],
}
DATE = {
    "type": "object",
    "properties": {
        "date-parts": {
            "type": "array",
            "minItems": 1,
            "maxItems": 2,
            "items": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
        },
        "season": {"enum": [1, 2, 3, 4]},
        "literal": {"type": "string"},
    },
    "additionalProperties": False,
    "minProperties": 1,
}
TEXTS = (
    "id title original-title container-title container-title-short publisher publisher-place volume issue ISSN ISBN "
    "edition page genre status language DOI PMID PMCID URL source note"
)
# The variables of CSL-JSON 1.0.2 that we use, with the kinds that its schema gives them.
CSL = {
    "type": "object",
    "properties": {
        "type": {"enum": ["article", "article-journal", "book", "chapter"]},
        "author": {"type": "array", "items": NAME, "minItems": 1},
        "editor": {"type": "array", "items": NAME, "minItems": 1},
        "issued": DATE,
        **{name: {"type": "string", "minLength": 1} for name in TEXTS.split()},
    },
    "required": ["id", "type"],
    "additionalProperties": False,
}


def check_ris_reads_back(pmid):
    text = goldens()[pmid]["ris"]
    assert re.fullmatch(r"TY  - [A-Z]+\n(?:[A-Z][A-Z0-9]  - \S.*\n)+ER  - \n", text)
    (entry,) = rispy.loads(text)
    expected = facts(pmid)
    assert len(entry.get("authors", [])) == len([one for one in expected.people if any(one)])
    assert entry.get("doi") == expected.doi
    assert entry["accession_number"] == pmid
    assert entry["type_of_reference"] == ("CHAP" if expected.book else "JOUR")
    for line, (surname, _) in zip(entry.get("authors", []), expected.people, strict=False):
        assert not surname or line.casefold().startswith(surname.casefold())


def test_ris_reads_back():
    for pmid in PMIDS:
        with case(pmid):
            check_ris_reads_back(pmid)


def check_bibtex_reads_back(pmid):
    database = pybtex.database.parse_string(goldens()[pmid]["bibtex"], "bibtex")
    ((key, entry),) = database.entries.items()
    expected = facts(pmid)
    assert re.fullmatch(rf"[A-Za-z0-9]+_{pmid}", key)
    people = entry.persons.get("author", [])
    others = 0 if expected.complete or not people else 1
    assert len(people) - others == len([one for one in expected.people if any(one)])
    assert entry.fields.get("doi", "").replace("\\%", "%") == (expected.doi or "")
    assert entry.fields["year"].partition("--")[0] in expected.years
    for field in entry.fields.values():
        assert not re.search(r"(?<!\\)[&%#]", field.replace("\\textbackslash", ""))


def test_bibtex_reads_back():
    for pmid in PMIDS:
        with case(pmid):
            check_bibtex_reads_back(pmid)


def test_no_two_bibtex_entries_share_a_key():
    keys = [re.match(r"@\w+\{(.+),", goldens()[pmid]["bibtex"])[1] for pmid in PMIDS]
    assert len(set(keys)) == len(keys)


def check_csl_json_keeps_to_its_schema(pmid):
    item = json.loads(goldens()[pmid]["csl_json"])
    validate(item, CSL)
    assert item["PMID"] == pmid
    assert len(item.get("author", [])) == len([one for one in facts(pmid).people if any(one)])


def test_csl_json_keeps_to_its_schema():
    for pmid in PMIDS:
        with case(pmid):
            check_csl_json_keeps_to_its_schema(pmid)

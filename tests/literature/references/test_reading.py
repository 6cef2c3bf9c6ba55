"""Files of references, in every format."""

import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.files import format_of, read_references

BIBTEX = """% exported
@string{nejm = "New England Journal of Medicine"}
@comment{ignored, title = {No}}
@article{zhu2020,
  author = {Zhu, Na and Dingyu Zhang and Mar{\\'\\i}a van der {\\"U}lker and others},
  title = "A {Novel} Coronavirus: $\\alpha$-Helix \\& more",
  journal = nejm, year = 2020, volume = {382}, number = {8}, pages = {727--733},
  doi = {10.1056/NEJMoa2001017}, note = {PMID: 31978945}
}
@article{broken, title = {Never closed
@book{held, author = {World Health Organization}, title = {A book}, year = 2019}
"""
RIS = """TY  - JOUR
AU  - Zhu, Na
A1  - Zhang, Dingyu
T1  - A novel coronavirus
  that goes on
T2  - N Engl J Med
Y1  - 2020/02/20/
VL  - 382
IS  - 8
SP  - 727
EP  - 733
UR  - https://doi.org/10.1056/NEJMoa2001017
ER  -\x20

TY  - BOOK
TI  - A book
"""
NBIB = """
PMID- 31978945
TI  - A Novel Coronavirus from Patients with Pneumonia in
      China, 2019.
FAU - Zhu, Na
AU  - Zhu N
TA  - N Engl J Med
DP  - 2020 Feb 20
VI  - 382
PG  - 727-733
AID - 10.1056/NEJMoa2001017 [doi]

PMID- 1
TI  - Another.
"""
CSL = [
    {
        "id": "zhu", "type": "article-journal", "title": "A <i>novel</i> coronavirus", "container-title": ["NEJM"],
        "author": [{"family": "Berg", "non-dropping-particle": "van der", "given": "Jan"}, {"literal": "WHO"}, 7],
        "issued": {"date-parts": [["2020", 2]]}, "page": "727-733", "volume": 382, "DOI": "nothing of the kind",
        "note": "PMID: 31978945",
    },
    {"id": "web", "type": "webpage", "title": "A page"},
    "nothing",
]  # fmt: skip


def test_bibtex_is_read_entry_by_entry_and_past_a_broken_one():
    first, broken, book = read_references(BIBTEX)
    assert (first.key, first.line, first.kind) == ("zhu2020", 4, "article")
    assert first.title == "A Novel Coronavirus: α-Helix & more"
    assert first.authors == ("Zhu, Na", "Zhang, Dingyu", "van der Ülker, María")
    assert (first.etal, first.journal, first.year) == (True, "New England Journal of Medicine", "2020")
    assert (first.volume, first.issue, first.pages) == ("382", "8", "727–733")
    assert (first.doi, first.pmid) == ("10.1056/nejmoa2001017", "31978945")
    assert (broken.key, book.key, book.kind) == ("broken", "held", "other")


def test_ris_is_read_with_values_of_several_lines():
    first, book = read_references(RIS)
    assert (first.title, first.line) == ("A novel coronavirus that goes on", 1)
    assert first.authors == ("Zhu, Na", "Zhang, Dingyu")
    assert (first.year, first.pages, first.doi) == ("2020", "727-733", "10.1056/nejmoa2001017")
    assert (book.kind, book.line) == ("other", 15)


def test_nbib_is_read():
    first, second = read_references(NBIB)
    assert first.title == "A Novel Coronavirus from Patients with Pneumonia in China, 2019."
    assert (first.pmid, first.authors, first.pages, first.doi) == (
        "31978945", ("Zhu, Na",), "727-733", "10.1056/nejmoa2001017",
    )  # fmt: skip
    assert (second.pmid, second.line) == ("1", 13)


@pytest.mark.parametrize("wrapped", [CSL, {"items": CSL}])
def test_csl_json_is_read(wrapped):
    first, page = read_references(json.dumps(wrapped, indent=1))
    assert (first.title, first.journal, first.year) == ("A novel coronavirus", "NEJM", "2020")
    assert first.authors == ("van der Berg, Jan", "WHO")
    assert (first.volume, first.pages, first.doi, first.pmid) == ("382", "727-733", "", "31978945")
    assert page.kind == "other"
    assert page.line > first.line > 0


A = "Zhu N, Zhang D. A novel coronavirus from patients with pneumonia. N Engl J Med. 2020;382:727-33."
B = "Kimura M (1980) A simple method for estimating rates of base substitutions. J Mol Evol 16:111–120"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{A}\n{B}\n", [1, 2]),
        (f"1. {A}\n2. {B}\n", [1, 2]),
        (f"[1] {A[:40]}\n    {A[40:]}\n\n[2] {B}", [1, 4]),
        (f"{A[:40]}\n{A[40:]}\n\n{B[:30]}\n{B[30:]}", [1, 4]),
        (f"Introduction\n1. We did it.\nReferences\n\n{A}\n{B}\n", [5, 6]),
    ],
)
def test_a_list_in_plain_text_is_cut_into_references(text, lines):
    works = read_references(text)
    assert [each.line for each in works] == lines
    assert [each.year for each in works] == ["2020", "1980"]
    assert [each.pages for each in works] == ["727-33", "111–120"]


def test_the_format_is_recognized():
    given = {"bibtex": BIBTEX, "ris": RIS, "nbib": NBIB, "csl-json": json.dumps(CSL), "text": A}
    assert {name: format_of(text) for name, text in given.items()} == {name: name for name in given}


@pytest.mark.parametrize("text", ["", "  \n ", "{}", "[1, 2]", "@article{a, }", "TY  - JOUR\nER  - \n"])
def test_a_text_without_references_is_refused(text):
    with pytest.raises(InvalidInput, match="no references found"):
        read_references(text)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("[" * 100_000, "csl-json"), ("{", "csl-json"), ("1", "csl-json"), ("x" * 4_000_001, None),
        ("Doe J. A title. J Virol. 2020;1:2.\n" * 2_001, "text"),
    ],
)  # fmt: skip
def test_a_hostile_file_is_refused(text, form):
    with pytest.raises(InvalidInput):
        read_references(text, form)


def test_braces_that_never_close_take_no_time():
    [only] = read_references("@article{a, year = 2020, title = {Open" + "{" * 500_000, "bibtex")
    assert (only.key, only.title) == ("a", "Open")

"""Files of references in every format, and LaTeX as text."""

import json

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.references.files import format_of, read_references, text_of
from bio_mcp.literature.references.works import MOST

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


@pytest.mark.parametrize(
    ("fields", "pmid"),
    [
        ("DB  - PubMed\nAN  - 123", "123"),
        ("DP  - NLM pubmed\nAN  - 123", "123"),
        ("DB  - Scopus\nAN  - 123", ""),
        ("N1  - read twice; PMID: 123", "123"),
        ("C7  - pmid 123", "123"),
        ("N1  - seen by 123 people", ""),
    ],
)
def test_a_number_in_ris_is_a_pmid_only_where_the_file_says_so(fields, pmid):
    [only] = read_references(f"TY  - JOUR\nTI  - Some title\n{fields}\nER  - \n", "ris")
    assert only.pmid == pmid


@pytest.mark.parametrize(
    ("fields", "pages"),
    [
        ("SP  - 7\nEP  - 19", "7-19"),
        ("SP  - 7-19\nEP  - 19", "7-19"),
        ("SP  - e7", "e7"),
        ("EP  - 19", ""),
        ("M1  - 3", ""),
    ],
)
def test_pages_of_ris_are_joined_once(fields, pages):
    [only] = read_references(f"TY  - JOUR\nTI  - Some title\n{fields}\n", "ris")
    assert only.pages == pages


def test_a_record_that_is_not_ended_ends_where_the_next_begins_and_ends_alone_are_nothing():
    first, second = read_references(
        "ER  - \nER  - \nTY  - JOUR\nTI  - One title\nTY  - JOUR\nTI  - Two titles\nER  - \nER  -\n", "ris"
    )
    assert [(each.title, each.line) for each in (first, second)] == [("One title", 3), ("Two titles", 5)]


def test_text_before_the_first_tag_belongs_to_nothing():
    [only] = read_references("Exported by hand\n\nTY  - JOUR\nTI  - Some title\n", "ris")
    assert (only.title, only.line) == ("Some title", 3)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("FAU - Zhu, Na\nAU  - Zhu N", ("Zhu, Na",)),
        ("AU  - Zhu N\nAU  - Li N", ("Zhu N", "Li N")),
        ("CN  - The Group", ("The Group",)),
        ("IR  - Nobody N", ()),
    ],
)
def test_of_nbib_full_names_count_then_short_ones_then_groups(fields, found):
    [only] = read_references(f"PMID- 1\nTI  - Some title\n{fields}\n", "nbib")
    assert only.authors == found


@pytest.mark.parametrize(
    ("fields", "pages", "doi"),
    [
        ("AID - e1234 [pii]\nAID - 10.1000/A [doi]", "e1234", "10.1000/a"),
        ("PG  - 3-9\nLID - e1234 [pii]", "3-9", ""),
        ("AID - S0140-6736(20)31022-9 [pii]", "", ""),
        ("LID - 10.1000/b [doi]\nAID - 10.1000/a [doi]", "", "10.1000/a"),
    ],
)
def test_an_article_number_of_nbib_is_its_page_and_a_publishers_key_is_not(fields, pages, doi):
    [only] = read_references(f"PMID- 1\nTI  - Some title\n{fields}\n", "nbib")
    assert (only.pages, only.doi) == (pages, doi)


def test_a_preprint_of_nbib_is_one():
    [only] = read_references("PMID- 1\nTI  - Some title\nPT  - Journal Article\nPT  - Preprint\n", "nbib")
    assert only.kind == "preprint"


def test_one_record_more_than_are_read_is_refused():
    record = "TY  - JOUR\nTI  - Some title\nER  - \n"
    assert len(read_references(record * MOST, "ris")) == MOST
    with pytest.raises(InvalidInput, match="split it"):
        read_references(record * (MOST + 1), "ris")


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"M{\"u}ller and M\"{u}ller and M\"uller", "Müller and Müller and Müller"),
        (r"Dvo\v{r}{\'a}k, Anton{\'\i}n", "Dvořák, Antonín"),
        (r"{\c C}elik \c{s} {\H o}", "Çelik ş ő"),
        (r"{\AA}ngstr{\"o}m {\O}rsted {\ss} \L{}ukasz", "Ångström Ørsted ß Łukasz"),
        (r"$\beta$-catenin \textit{in vivo}, $\Delta$F508", "β-catenin in vivo, ΔF508"),
        (r"$\varepsilon$ and $\lambda$ and $\Omega$", "ε and λ and Ω"),
        (r"5 \% \& \#1 a\_b", "5 % & #1 a_b"),
        (r"a set \{x\} {of {nested}} braces", "a set {x} of nested braces"),
        (r"$p \leq 0.05$, 3 $\pm$ 1", "p ≤0.05, 3 ± 1"),
        ("pages 1--2 --- ``quoted'' J.~Doe", "pages 1–2 — “quoted” J. Doe"),
        (r"\unknowncommand{kept} \nonsense", "kept"),
        (r"\v{S}ali and {\v S}ali, Fran\c{c}ois \c Cetin", "Šali and Šali, François Çetin"),
        (r"H$_2$O and CO$_{2}$, a~b   c", "H_2O and CO_2, a b c"),
        ("", ""),
        ("\\", "\\"),
    ],
)
def test_what_is_typed_becomes_what_is_meant(latex, text):
    assert text_of(latex) == text


@pytest.mark.parametrize("latex", [r"\'" * 50_000, "\\" * 100_000, "{" * 100_000, r"\v{" * 40_000])
def test_what_is_no_latex_has_no_braces_left_and_ends(latex):
    assert not set(text_of(latex)) & {"{", "}"}

"""LaTeX of bibliographies as plain text, and ids in running text."""

import time

import pytest

from bio_mcp.literature.references.endnote import read_endnote
from bio_mcp.literature.references.found_ids import ids_in
from bio_mcp.literature.references.latex import text_of
from bio_mcp.literature.references.works import LONGEST, CitedWork, work, year_in

LATEX = {
    "plain text": "plain text",
    r"M{\"u}ller and G\"otz": "Müller and Götz",
    r"Garc{\'\i}a-Mu{\~n}oz": "García-Muñoz",
    r"\v{S}ali and {\v S}ali": "Šali and Šali",
    r"{\O}re, {\aa}, \ss{}, \L ukasz": "Øre, å, ß, Łukasz",
    r"Fran\c{c}ois \c Cetin": "François Çetin",
    r"$\alpha$-helix, $\Delta$F508, $\varepsilon$": "α-helix, ΔF508, ε",
    r"{The {DNA} of \textit{E. coli}}": "The DNA of E. coli",
    r"5\% \& more \#1 a\_b": "5% & more #1 a_b",
    r"1--2 --- ``quoted''": "1–2 — “quoted”",
    r"H$_2$O and CO$_{2}$": "H_2O and CO_2",
    r"\unknowncommand{kept}": "kept",
    r"a~b   c": "a b c",
    r"\{set\}": "{set}",
}


@pytest.mark.parametrize("latex", LATEX)
def test_latex_is_read(latex):
    assert text_of(latex) == LATEX[latex]


def test_hostile_latex_takes_no_time():
    began = time.process_time()
    for text in ("\\" * 100_000, "{\\'" * 50_000, "\\v" * 50_000, "{" * 200_000):
        text_of(text)
    assert time.process_time() - began < 30  # minutes, where a pattern tries every way


IDS = {
    "doi:10.1000/xyz.": ("10.1000/xyz", "", ""),
    "https://doi.org/10.1000/xyz, PMID: 123": ("10.1000/xyz", "123", ""),
    "(http://dx.doi.org/10.1000/x(1)y)": ("10.1000/x(1)y", "", ""),
    "[10.1000/xyz]": ("10.1000/xyz", "", ""),
    "https://pubmed.ncbi.nlm.nih.gov/31978945/": ("", "31978945", ""),
    "PMCID: PMC4852275": ("", "", "PMC4852275"),
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC4852275/": ("", "", "PMC4852275"),
    "DOI https://doi.org/10.1002/(SICI)1098-2795(199905)53:1%3c27::AID-MRD4%3e3.0.CO;2-W": (
        "10.1002/(SICI)1098-2795(199905)53:1%3c27::AID-MRD4%3e3.0.CO;2-W", "", "",
    ),
    "version 10.5 of 2020": ("", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("text", IDS)
def test_ids_are_found_and_taken_out(text):
    found = ids_in(text)
    assert (found.doi, found.pmid, found.pmcid) == IDS[text]
    assert not any(each and each in found.rest for each in IDS[text])


def test_an_address_is_taken_out_too():
    found = ids_in("See <https://example.org/a?b=1> for more")
    assert (found.url, found.rest.split()) == ("https://example.org/a?b=1", ["See", "for", "more"])


def test_a_reference_is_bounded_and_its_ids_are_normal():
    made = work(
        title="No " * 10_000,
        authors=["Doe\nJ", "", " "],
        year="c. 2019 (online)",
        doi="https://doi.org/10.1/X",
        pmid="no",
    )
    assert (len(made.title) <= LONGEST, made.authors, made.year) == (True, ("Doe J",), "2019")
    assert (made.doi, made.pmid) == ("", "")
    assert work(doi="https://doi.org/10.1000/X", pmcid="pmc12").doi == "10.1000/x"
    assert year_in("vol. 12345, 201") == ""


@pytest.mark.parametrize(
    ("made", "shown"),
    [
        (CitedWork(text="As written."), "As written."),
        (
            CitedWork(title="A title.", authors=("Doe J", "Roe K"), journal="Gut", year="2020"),
            "Doe J et al. A title. Gut 2020",
        ),
        (CitedWork(doi="10.1/x", pmid="1"), "10.1/x"),
        (CitedWork(pmid="1"), "PMID 1"),
        (CitedWork(key="doe2020"), "doe2020"),
    ],
)
def test_a_reference_is_shown_in_a_line(made, shown):
    assert made.shown == shown


@pytest.mark.parametrize("xml", ["", "<EndNote>", "<!DOCTYPE a [<!ENTITY b 'c'>]><EndNote>&b;</EndNote>", "<EndNote/>"])
def test_hostile_xml_of_endnote_has_no_references(xml):
    assert read_endnote(xml) == []

"""References in plain text to their fields. The strings are of reference lists in PubMed's records."""

import time

import pytest

from bio_mcp.literature.references.plain import parse_citation

STYLES = {
    "NLM's short form": (
        "N Engl J Med. 2020 Feb 20;382(8):727-733",
        {"journal": "N Engl J Med", "year": "2020", "volume": "382", "issue": "8", "pages": "727-733", "authors": ()},
    ),
    "Vancouver": (
        "von Elm E, Altman DG, Egger M et al. The strengthening the reporting of observational studies in epidemiology "
        "(STROBE) statement: Guidelines for reporting observational studies. PLoS Med 2007; 4: e296.",
        {"journal": "PLoS Med", "year": "2007", "volume": "4", "pages": "e296", "etal": True,
         "authors": ("von Elm E", "Altman DG", "Egger M")},
    ),
    "APA": (
        "Akee, R., Copeland, W., Costello, E. J., & Simeonova, E. (2018). How does household income affect child "
        "personality traits and behaviors? American Economic Review, 108(3), 775-827. "
        "https://doi.org/10.1257/aer.20160133",
        {"title": "How does household income affect child personality traits and behaviors?", "issue": "3",
         "year": "2018", "journal": "American Economic Review", "volume": "108", "pages": "775-827",
         "doi": "10.1257/aer.20160133"},
    ),
    "Nature": (
        "Liao, T. et al. Histone methyltransferase KMT5A gene modulates oncogenesis and lipid metabolism of papillary "
        "thyroid cancer in vitro. Oncol. Rep. 39, 2185–2192 (2018).",
        {"journal": "Oncol. Rep", "year": "2018", "volume": "39", "pages": "2185–2192", "authors": ("Liao, T.",)},
    ),
    "Springer": (
        "Kent-First M, Muallem A, Shultz J et al (1999) Defining regions of the Y-chromosome responsible for male "
        "infertility. Mol Reprod Dev 53:27–41. https://doi.org/10.1002/(SICI)1098-2795(199905)53:1%3c27::AID-MRD4%3e3.0.CO;2-W",
        {"journal": "Mol Reprod Dev", "year": "1999", "volume": "53", "pages": "27–41"},
    ),
    "the year in the title": (
        "Zhu N, Zhang D, Wang W, et al. A novel coronavirus from patients with pneumonia in China, 2019. N Engl J Med. "
        "2020;382:727–733. doi:10.1056/NEJMoa2001017",
        {"title": "A novel coronavirus from patients with pneumonia in China, 2019", "year": "2020", "volume": "382"},
    ),
    "chemistry, without a title": (
        "J. Beckmann, J. Bolsinger, A. Duthie, Aust. J. Chem. 2008, 61, 172-182.",
        {"title": "", "journal": "Aust. J. Chem", "year": "2008", "volume": "61", "pages": "172-182",
         "authors": ("J. Beckmann", "J. Bolsinger", "A. Duthie")},
    ),
    "numbered, with ids": (
        "[12] Coukos G, Tanyi J. Opportunities in immunotherapy of ovarian cancer. Ann Oncol. 2016;27:i11-15. "
        "PMID: 27141063; PMCID: PMC4852275.",
        {"key": "12", "pmid": "27141063", "pmcid": "PMC4852275", "journal": "Ann Oncol", "pages": "i11-15"},
    ),
    "a book": (
        "Krueger, H. W. & Sullivan, C. H. Models for carbon isotope fractionation between diet and bone. In Stable "
        "Isotopes in Nutrition Vol. 258 (eds Turnland, J. R. & Johnson, P. E.) 205–220 (American Chemical Society, "
        "1984).",
        {"kind": "other"},
    ),
    "a web page": (
        "Smithsonian Institution. What does it mean to be human? Walking Upright. 2016. Available at: "
        "https://humanorigans.si.edu/human-characteristics/walking-upright. Accessed October 30, 2020.",
        {"kind": "other"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_a_reference_is_read_in_its_style(style):
    text, stated = STYLES[style]
    read = parse_citation(text)
    assert {name: getattr(read, name) for name in stated} == stated


def test_a_doi_ends_where_the_sentence_goes_on():
    for end in (".", ").", "; PMID: 1", " ."):
        assert parse_citation(f"Doe J. A title. J. 2020;1:1. (doi:10.1016/S0140-6736(20)31022-9{end}").doi == (
            "10.1016/s0140-6736(20)31022-9"
        )


@pytest.mark.parametrize(
    "text",
    ["A" * 200_000, "Aa Bb, " * 20_000, "(" * 50_000, "1;" * 50_000, "J. " * 50_000, "a-" * 100_000, "é’" * 90_000],
)
def test_a_hostile_text_takes_no_time(text):
    began = time.process_time()
    parse_citation(text)
    assert time.process_time() - began < 30  # minutes, where a pattern tries every way

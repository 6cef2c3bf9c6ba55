"""References in plain text to their fields. The strings are of reference lists in PubMed's records."""

import time

import pytest

from bio_mcp.literature.references.plain import imprint_in, parse_citation, people_in

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


LISTS = {
    "Zhu N, Zhang D, Wang W, et al. A novel": (["Zhu N", "Zhang D", "Wang W"], True),
    "Liao, T. et al. Histone": (["Liao, T."], True),
    "Akee, R., Copeland, W., & Simeonova, E. (2018)": (["Akee, R.", "Copeland, W.", "Simeonova, E."], False),
    "Pan, J.-B., Hu, S.-C., & Ji, Z.-L. (2013)": (["Pan, J.-B.", "Hu, S.-C.", "Ji, Z.-L."], False),
    "Berry, R. C., Novak, P., … Sharp, W. G. (2015)": (["Berry, R. C.", "Novak, P.", "Sharp, W. G."], False),
    "Berry, R. C., Novak, P., . . . Sharp, W. G. (2015)": (["Berry, R. C.", "Novak, P.", "Sharp, W. G."], False),
    "J. Beckmann, J. Bolsinger, A. Duthie, Aust. J. Chem. 2008": (["J. Beckmann", "J. Bolsinger", "A. Duthie"], False),
    "M. Mousavi, G. Frenking, J. Organomet. Chem. 2013": (["M. Mousavi", "G. Frenking"], False),
    "M. Gilar, F. Gritti, J. Chromatogr. A. 2021": (["M. Gilar", "F. Gritti"], False),
    "van Maaren MC, de Munck L, Linn SC. 10 year": (["van Maaren MC", "de Munck L", "Linn SC"], False),
    "Schim van der Loeff I, Sprenkeler EGG, et al. A": (["Schim van der Loeff I", "Sprenkeler EGG"], True),
    "Berkebile AR, McCray PB Jr (2014)": (["Berkebile AR", "McCray PB Jr"], False),
    "Hwang J.W., Cho Y., Bae G.U. Protein": (["Hwang J.W.", "Cho Y.", "Bae G.U."], False),
    "Balci, H. İ., Şen, C., & Kocaoğlu, M. (2021)": (["Balci, H. İ.", "Şen, C.", "Kocaoğlu, M."], False),
    "O’Brien K, D'Angelo M. On": (["O’Brien K", "D'Angelo M"], False),
    "Gu W, Sardar D, Pierce E and Schmidt EW, Journal": (["Gu W", "Sardar D", "Pierce E", "Schmidt EW"], False),
    "Qiu X-B, Liu CH. 2021": (["Qiu X-B", "Liu CH"], False),
    "R. R. Moraes Barros, K. Thawnashom, Malar. J. 2021": (["R. R. Moraes Barros", "K. Thawnashom"], False),
}


@pytest.mark.parametrize("text", LISTS)
def test_authors_are_read_as_they_are_printed(text):
    people = people_in(text)
    assert (list(people.names), people.etal) == LISTS[text]


@pytest.mark.parametrize(
    "text", ["The effect of aspirin on mice. Lancet", "2019 guidelines", "", "World Health Organization"]
)
def test_a_text_that_begins_with_no_name_has_no_authors(text):
    assert people_in(text).names == ()


@pytest.mark.parametrize(
    ("people", "rest"),
    [
        ("Zhu N, Zhang D", ". A novel coronavirus"),
        ("Zhu N, Zhang D, et al.", " A novel coronavirus"),
        ("Fransen LF, Berkelmans GH, Dutch Upper Cancer Audit Group", ". Long-term survival. Ann Surg"),
    ],
)
def test_the_end_of_the_list_with_its_group_is_where_the_title_can_begin(people, rest):
    assert people_in(people + rest).end == len(people)


@pytest.mark.parametrize(
    ("text", "title"), [("Jensen G (ed.) Cryo-EM of cells", ""), ("Jensen G. Cryo-EM of cells", "Cryo-EM of cells")]
)
def test_what_editors_edited_is_no_title_of_an_article(text, title):
    assert parse_citation(text).title == title


def test_no_more_names_are_read_than_a_list_can_have():
    assert len(people_in(", ".join(["Doe J"] * 5_000)).names) == 300


PRINTED = {
    "Lancet. 2020 May 16;395(10236):1569-1578": ("2020", "395", "10236", "1569-1578"),
    "PLoS Med 2007; 4: e296.": ("2007", "4", "", "e296"),
    "American Economic Review, 108(3), 775-827.": ("", "108", "3", "775-827"),
    "Semin Immunopathol 39(5):529–539.": ("", "39", "5", "529–539"),
    "Oncol. Rep. 39, 2185–2192 (2018).": ("2018", "39", "", "2185–2192"),
    "Aust. J. Chem. 2008, 61, 172-182.": ("2008", "61", "", "172-182"),
    "Nat Chem Biol, 2012, 8, 957–959.": ("2012", "8", "", "957–959"),
    "Hypertension, 2017,70(4):798–803": ("2017", "70", "4", "798–803"),
    "Bioinformatics30, 614–620 (2014).": ("2014", "30", "", "614–620"),
    "Ann Hum Biol, 1–2.": ("", "", "", "1–2"),
    "International journal of pharmaceutics, 121173.": ("", "", "", "121173"),
    "Stud. Health. Technol. Inform. 282 (2021) 13–31.": ("2021", "282", "", "13–31"),
    "J Radiat Res. 2016 Aug;57 Suppl 1:i69-i75": ("2016", "57 Suppl 1", "", "i69-i75"),
    "Soc Sci Med. 2020 Jul 7;:113169": ("2020", "", "", "113169"),
    "Cochrane Database Syst Rev 2001; (1): CD000078.": ("2001", "", "1", "CD000078"),
    "J Clin Imaging Sci 2011;1:62.": ("2011", "1", "", "62"),
    "Lang Soc, vol. 29, no. 1, pp. 65–115.": ("", "29", "1", "65–115"),
    "European Journal of Political Science, 46 (May 2007), 367–94.": ("2007", "46", "", "367–94"),
    "Nervenarzt (2021)": ("2021", "", "", ""),
    "nothing of the kind": ("", "", "", ""),
}


@pytest.mark.parametrize("text", PRINTED)
def test_an_imprint_is_read(text):
    found = imprint_in(text, 0)
    assert (found.year, found.volume, found.issue, found.pages) == PRINTED[text]


def test_the_year_behind_the_authors_comes_before_one_in_the_title_and_a_name_of_a_virus_is_none():
    text = "Ferlay J. 2015 Mar 1. Cancer in GLOBOCAN 2012. Int J Cancer 136:359-86"
    assert imprint_in(text, len("Ferlay J")).year == "2015"
    text = "Remdesivir inhibits the novel coronavirus (2019-nCoV) in vitro. Cell Res. 30, 269–271 (2020)."
    assert imprint_in(text, 0).year == "2020"

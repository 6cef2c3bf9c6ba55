"""Year, volume, issue and pages, by every punctuation."""

import pytest

from bio_mcp.literature.references.plain import imprint_in

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


def test_the_year_behind_the_authors_comes_before_one_in_the_title():
    text = "Ferlay J. 2015 Mar 1. Cancer in GLOBOCAN 2012. Int J Cancer 136:359-86"
    assert imprint_in(text, len("Ferlay J")).year == "2015"


def test_a_name_of_a_virus_is_no_year():
    text = "Remdesivir inhibits the novel coronavirus (2019-nCoV) in vitro. Cell Res. 30, 269–271 (2020)."
    assert imprint_in(text, 0).year == "2020"

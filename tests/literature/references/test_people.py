"""The authors that a reference begins with, in every way in which journals print them."""

import pytest

from bio_mcp.literature.references.plain import parse_citation, people_in

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


def test_the_end_of_the_list_is_where_the_title_can_begin():
    for text in ("Zhu N, Zhang D. A novel coronavirus", "Zhu N, Zhang D, et al. A novel coronavirus"):
        assert text[people_in(text).end :] == ". A novel coronavirus".removeprefix("" if "et al" not in text else ".")


def test_a_group_behind_the_people_is_no_title():
    text = "Fransen LF, Berkelmans GH, Dutch Upper Cancer Audit Group. Long-term survival. Ann Surg"
    assert text[people_in(text).end :].startswith(". Long-term")


@pytest.mark.parametrize(
    ("text", "title"), [("Jensen G (ed.) Cryo-EM of cells", ""), ("Jensen G. Cryo-EM of cells", "Cryo-EM of cells")]
)
def test_what_editors_edited_is_no_title_of_an_article(text, title):
    assert parse_citation(text).title == title


def test_no_more_names_are_read_than_a_list_can_have():
    assert len(people_in(", ".join(["Doe J"] * 5_000)).names) == 300

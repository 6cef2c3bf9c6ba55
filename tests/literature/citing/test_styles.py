"""The odd cases one by one; names and titles are invented where no recorded record has the case."""

import json
from dataclasses import replace

import pybtex.database
import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.citing import STYLES, cite, imprint
from bio_mcp.literature.citing.formats import bibtex_key, latex
from bio_mcp.literature.citing.works import (
    Work,
    inverted_name,
    journal_title,
    names,
    nlm_name,
    pointed,
    sentence_case,
    title_case,
)
from bio_mcp.literature.records import (
    Article,
    Author,
    Book,
    Correction,
    Journal,
    PartialDate,
    RetractionStatus,
)

LANCET = Journal(title="Lancet (London, England)", medline_abbreviation="Lancet", volume="375", issue="9713")
PAPER = Article(
    "1",
    title="Effect of TP53 on cells: a trial.",
    authors=(Author("Smith", "Jane Q", "JQ"),),
    journal=LANCET,
    pages="737-8",
    languages=("eng",),
    publication_date=PartialDate("2010 Feb 6", 2010, 2, 6),
    doi="10.1016/S0140-6736(10)60175-4",
    pmcid="PMC1",
)
STATPEARLS = Article(
    "28613518",
    title="Type 2 Diabetes.",
    authors=(Author("Goyal", "Rajeev", "R"), Author("Singhal", "Mayank", "M")),
    book=Book("StatPearls", "StatPearls Publishing", "Treasure Island (FL)", accession="NBK513253"),
    publication_date=PartialDate("2024 Jan", 2024, 1),
    languages=("eng",),
)


def one_name(author, form):
    (name,) = names([author])
    return form(name)


@pytest.mark.parametrize(
    ("author", "in_apa", "in_nlm"),
    [
        (Author("Smith", "John Q", "JQ", "Jr"), "Smith, J. Q., Jr.", "Smith JQ Jr"),
        (Author("Smith", "John", "J", "3rd"), "Smith, J., III", "Smith J 3rd"),
        (Author("Smith", "John", "J", "III"), "Smith, J., III", "Smith J 3rd"),
        (Author("Berg", "Jean-Pierre", "JP"), "Berg, J.-P.", "Berg JP"),
        (Author("Kim", "Jin-woo", "JW"), "Kim, J.", "Kim JW"),
        (Author("van der Donk", "Wilfred A", "WA"), "van der Donk, W. A.", "van der Donk WA"),
        (Author("Silva", "Maria de Lourdes", "Mde L"), "Silva, M. de L.", "Silva Mde L"),
        (Author("Kostek", "S", "S"), "Kostek, S.", "Kostek S"),
        (Author("Ho", "JQ", "JQ"), "Ho, J. Q.", "Ho JQ"),
        (Author("Ho", None, "JQ"), "Ho, J. Q.", "Ho JQ"),
        (Author("Ariszonta"), "Ariszonta", "Ariszonta"),
        (Author("王", "小明", "小明"), "王, 小明", "王 小明"),
        (Author("Ødegård", "Øyvind", "Ø"), "Ødegård, Ø.", "Ødegård Ø"),
        (Author("PHILLIPS", "H", "H"), "Phillips, H.", "Phillips H"),
        (Author(collective_name="RECOVERY Group."), "RECOVERY Group", "RECOVERY Group"),
    ],
)
def test_names_take_the_form_of_the_style(author, in_apa, in_nlm):
    assert one_name(author, lambda name: inverted_name(name, pointed(name))) == in_apa
    assert one_name(author, nlm_name) == in_nlm


def replace_authors(*authors, **changes):
    return replace(PAPER, authors=authors, **changes)


def numbered(count):
    return [Author(f"Author{n:02}", "Ann", "A") for n in range(1, count + 1)]


def test_apa_lists_twenty_and_shortens_twenty_one():
    assert "Author19, A., & Author20, A. (2010)" in cite(replace_authors(*numbered(20)), "apa_string")
    shortened = cite(replace_authors(*numbered(21)), "apa_string")
    assert "Author19, A., . . . Author21, A. (2010)" in shortened
    assert "Author20" not in shortened


MISSPELT = (Author("Smiht", "J", "J", valid=False), Author("Smith", "J", "J"))
GROUP = Author(collective_name="The Trial Group")


@pytest.mark.parametrize(
    ("authors", "style", "begins"),
    [
        (MISSPELT, "apa_string", "Smith, J. (2010)."),
        ((*numbered(1), GROUP, *numbered(1)), "vancouver", "Author01 A; The Trial Group; Author01 A. Effect"),
        ((GROUP,), "mla_string", "Trial Group. “"),
    ],
)
def test_a_name_that_nlm_replaced_is_cited_once_and_a_group_as_its_style_has_it(authors, style, begins):
    assert cite(replace_authors(*authors), style).startswith(begins)


def test_a_book_has_an_edition_and_editors_have_their_role():
    editors = (Author("Adam", "Margaret P", "MP"), Author("Pagon", "Roberta A", "RA"))
    book = Book("Big Book", "Press", "Oxford", "2nd ed", ("978-1",), "NBK1", editors)
    chapter = replace(STATPEARLS, book=book, pages="12-19")
    assert "In M. P. Adam & R. A. Pagon (Eds.), Big Book (2nd ed, pp. 12–19). Press." in cite(chapter, "apa_string")
    assert "Big Book, edited by Margaret P. Adam and Roberta A. Pagon, 2nd ed, Press, 2024, pp. 12-19," in cite(
        chapter, "mla_string"
    )
    assert "In: Adam MP, Pagon RA, editors. Big Book [Internet]. 2nd ed." in cite(chapter, "vancouver")
    whole = replace(chapter, title="Big Book", pages=None)
    assert "(2024). Big Book (2nd ed). Press." in cite(whole, "apa_string")
    assert cite(whole, "bibtex").startswith("@book{Goyal2024_28613518,")
    assert json.loads(cite(whole, "csl_json"))["type"] == "book"


def retracted(citation="Editors. Lancet. 2010 Mar;376(1):445-6", title=PAPER.title):
    notice = Correction("RetractionIn", citation, "99")
    return replace(PAPER, title=title, corrections=(notice,), retraction=RetractionStatus.RETRACTED)


def test_a_retraction_is_reported_as_each_style_tells_it():
    assert cite(retracted(), "apa_string").endswith(
        "A trial [Retracted]. Lancet, 375(9713), 737–738. https://doi.org/10.1016/S0140-6736(10)60175-4 "
        "(Retraction published 2010, Lancet, 376[1], 445–446)"
    )
    assert cite(retracted(), "mla_string").endswith(". [Retracted].")
    assert cite(retracted(), "vancouver").endswith(
        "PMID: 1; PMCID: PMC1. Retraction in: Editors. Lancet. 2010 Mar;376(1):445-6. PMID: 99."
    )
    assert "N1  - Retracted publication.\nN1  - Retraction in: Editors." in cite(retracted(), "ris")
    assert "note = {Retracted publication. Retraction in: Editors." in cite(retracted(), "bibtex")
    assert json.loads(cite(retracted(), "csl_json"))["note"].startswith("Retracted publication.")


def test_a_title_that_says_it_is_retracted_is_not_marked_again_and_without_a_notice_it_is_all_the_same():
    citation = cite(retracted(title="RETRACTED: Effect of TP53."), "apa_string")
    assert "[Retracted]" not in citation
    assert "RETRACTED: Effect of TP53." in citation
    alone = replace(PAPER, retraction=RetractionStatus.RETRACTED)
    assert all("etracted" in cite(alone, style) for style in STYLES)


def test_a_record_that_has_nothing_is_still_cited_in_every_style():
    for style in STYLES:
        citation = cite(Article("7"), style)
        assert "None" not in citation
        assert "  -  " not in citation
    assert cite(Article("7"), "apa_string") == "[Article]. (n.d.)."
    assert cite(Article("7"), "vancouver") == "[Article]. PMID: 7."
    assert cite(Article("7"), "ris").startswith("TY  - JOUR\n")


def test_a_translated_title_keeps_its_brackets_and_brings_the_original():
    polish = replace(PAPER, title="[Effect on cells].", vernacular_title="Wpływ na komórki.", languages=("pol",))
    assert "Wpływ na komórki [Effect on cells]. Lancet" in cite(polish, "apa_string")
    assert "“Wpływ na komórki” [Effect on Cells]. Lancet" in cite(polish, "mla_string")
    assert "[Effect on cells]. Lancet. 2010 Feb 6;375(9713):737-8. Polish." in cite(polish, "vancouver")


def test_nlms_remark_on_the_translator_stays_in_its_own_style_only():
    german = replace(PAPER, title="[Skin (author's transl)].", vernacular_title='Die "Haut"]', languages=("ger",))
    assert 'Die "Haut" [Skin]. Lancet' in cite(german, "apa_string")
    assert "“Die 'Haut'” [Skin]. Lancet" in cite(german, "mla_string")
    assert "[Skin (author's transl)]. Lancet" in cite(german, "vancouver")


def test_ahead_of_print_is_reported_and_a_placeholder_is_no_volume():
    journal = replace(LANCET, volume="PP", issue=None)
    ahead = replace(PAPER, journal=journal, pages=None, publication_status="aheadofprint")
    assert "Lancet. Advance online publication. https" in cite(ahead, "apa_string")
    assert "Lancet. 2010 Feb 6. doi: 10.1016/S0140-6736(10)60175-4. Epub ahead of print." in cite(ahead, "vancouver")
    assert "PP" not in cite(ahead, "ris")


@pytest.mark.parametrize(
    ("printed", "full", "short", "nlm_form"),
    [
        ("737-8", "737-738", "737-38", "737-8"),
        ("1003-1005", "1003-1005", "1003-05", "1003-5"),
        ("923-1003", "923-1003", "923-1003", "923-1003"),
        ("96-101", "96-101", "96-101", "96-101"),
        ("e462-71", "e462-e471", "e462-e471", "e462-71"),
        ("S1-12", "S1-S12", "S1-S12", "S1-S12"),
        ("1S-20S", "1S-20S", "1S-20S", "1S-20S"),
        ("1825-34, 1839-40", "1825-1834, 1839-1840", "1825-34, 1839-40", "1825-34, 1839-40"),
        ("12-5; discussion 16", "12-15", "12-15", "12-5; discussion 16"),
        ("iv-viii", "iv-viii", "iv-viii", "iv-viii"),
        ("55-55", "55", "55", "55"),
        ("1608-774", "1608-1774", "1608-774", "1608-774"),
        (None, "", "", ""),
    ],
)
def test_pages_take_the_form_of_the_style(printed, full, short, nlm_form):
    shortened = imprint.full_pages(printed, last=imprint.mla_last)
    assert (imprint.full_pages(printed), shortened, imprint.nlm_pages(printed)) == (full, short, nlm_form)


@pytest.mark.parametrize("printed", ["e58144", "58144", "m3379", "eadn0327", "2021.05.14.444", "E1234", "bcr2020"])
def test_a_number_for_the_whole_article_is_no_page(printed):
    assert f"Article {printed}." in cite(replace(PAPER, pages=printed), "apa_string")
    assert f", article {printed}, " in cite(replace(PAPER, pages=printed), "mla_string")


@pytest.mark.parametrize("printed", ["40", "I59", "S12", "iv", "1234"])
def test_a_single_page_is_a_page_unless_the_journal_has_no_paper(printed):
    assert f", {printed}. https" in cite(replace(PAPER, pages=printed), "apa_string")
    online = replace(PAPER, pages=printed, publication_model="Electronic")
    assert ("Article" in cite(online, "apa_string")) == (printed != "iv")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("p53 and mRNA in vitro: a review of miR-21", "p53 and mRNA in vitro: A Review of miR-21"),
        ("α-synuclein in E. coli and Bacillus subtilis", "α-Synuclein in E. coli and Bacillus subtilis"),
        ("evidence-based care for up to 5 mg of drug", "Evidence-Based Care for up to 5 mg of Drug"),
        ("what is it for?", "What Is It For?"),
        ("Ebola virus and Crohn colitis", "Ebola Virus and Crohn Colitis"),
        ("Impact Of X-ray In The Clinic After Surgery", "Impact of X-Ray in the Clinic after Surgery"),
    ],
)  # fmt: skip
def test_title_case_leaves_symbols_and_species_alone(title, expected):
    assert title_case(title) == expected


def test_sentence_case_raises_only_plain_words_after_a_colon():
    assert sentence_case("statins: a trial") == "Statins: A trial"
    assert sentence_case("p53: mRNA levels") == "p53: mRNA levels"


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The New England journal of medicine", "The New England Journal of Medicine"),
        ("Science (New York, N.Y.)", "Science"),
        ("Journal of applied physiology (Bethesda, Md. : 1985)", "Journal of Applied Physiology"),
        ("World journal of emergency surgery : WJES", "World Journal of Emergency Surgery"),
        ("Revista de saude publica", "Revista de saude publica"),
        ("PloS one", "PLoS One"),
    ],
)
def test_journals_lose_nlms_qualifiers(title, expected):
    assert journal_title(title) == expected


def test_bibtex_is_safe_for_latex():
    assert latex("50% of R&D_1 {x} ~ #1 $5 ^2 \\") == (
        "50\\% of R\\&D\\_1 \\textbraceleft{}x\\textbraceright{} \\textasciitilde{} \\#1 \\$5 "
        "\\textasciicircum{}2 \\textbackslash{}"
    )
    assert latex("Ca²⁺, H₂O, TGF-β, p53^(R175H)") == (
        "Ca\\textsuperscript{2+}, H\\textsubscript{2}O, TGF-$\\beta$, p53\\textsuperscript{R175H}"
    )


def test_bibtex_keeps_capitals_that_a_style_would_lower():
    entry = cite(replace(PAPER, title="Role of TP53 in Parkinson disease and IL-6."), "bibtex")
    assert "title = {Role of {TP53} in {Parkinson} disease and {IL-6}}" in entry


def test_bibtex_keys_are_ascii_and_survive_a_new_version_of_the_record():
    named = replace_authors(Author("Tranebjærg-Ø", "L", "L"))
    assert bibtex_key(Work(named)) == "TranebjaergO2010_1"
    assert bibtex_key(Work(replace(named, pmid_version=2, title="Another"))) == bibtex_key(Work(named))
    assert bibtex_key(Work(replace_authors())) == "Anonymous2010_1"
    assert bibtex_key(Work(replace_authors(Author("王", "小明", "小明")))) == "2010_1"


def test_a_group_whose_name_holds_and_stays_one_author_in_bibtex():
    entry = cite(replace_authors(Author(collective_name="Research and Trials Group")), "bibtex")
    (read,) = pybtex.database.parse_string(entry, "bibtex").entries.values()
    assert len(read.persons["author"]) == 1


def test_an_unknown_style_names_the_choices():
    with pytest.raises(InvalidInput, match="ris, bibtex, apa_string, mla_string, vancouver, csl_json"):
        cite(PAPER, "chicago")

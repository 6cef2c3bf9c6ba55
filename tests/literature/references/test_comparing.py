"""What of a reference a record confirms: its title, its authors, its journal, and all of it."""

from dataclasses import replace

import pytest

from bio_mcp.literature.records import Article, Author, Journal, PartialDate
from bio_mcp.literature.references.comparing import (
    COMPARED,
    compare,
    contains_title,
    differing_author,
    differing_words,
    same_journal,
    same_title,
)
from bio_mcp.literature.references.plain import parse_citation
from bio_mcp.literature.references.works import work

PAPER = Article(
    "123",
    title="β-Müller cells of the retina: a randomised review of what they do.",
    authors=(
        Author("van der Berg", "Jan", "J"),
        Author("O'Brien", "Mary Ann", "MA"),
        Author(collective_name="Retina Study Group"),
    ),
    journal=Journal("The British journal of ophthalmology", "Br J Ophthalmol", volume="79 Suppl 1", issue="3 Pt 2"),
    pages="1057-73.e7",
    doi="10.1000/ABC",
    publication_date=PartialDate("1998 Dec-1999 Jan", 1998, 12),
    electronic_date=PartialDate("1998 Nov 3", 1998, 11, 3),
)  # fmt: skip
CITED = work(
    title="Beta-Muller Cells of the Retina",
    authors=["J. van der Berg", "O’Brien, M. A."],
    journal="Brit. J. Ophthal.",
    year="1999",
    volume="79",
    issue="3",
    pages="1057–1073",
)


def test_a_reference_with_the_habits_of_people_is_confirmed():
    found = compare(CITED, PAPER)
    assert (found.differs, found.confirms) == ((), True)
    assert found.agrees == ("title", "authors", "journal", "year", "volume", "issue", "pages")


@pytest.mark.parametrize(
    ("field", "stated"),
    [
        ("title", "Beta-Muller Rods of the Retina"),
        ("title", "Something else about other things"),
        ("authors", ("Smith J", "O'Brien MA")),
        ("authors", ("O'Brien MA", "van der Berg J")),
        ("authors", ("van der Berg J", "Smith J")),
        ("journal", "Lancet"),
        ("year", "2000"),
        ("volume", "80"),
        ("pages", "1058-73"),
        ("pages", "1057-80"),
        ("doi", "10.1000/abd"),
    ],
)
def test_each_field_that_is_wrong_is_named_with_what_is_right(field, stated):
    found = compare(replace(CITED, **{field: stated}), PAPER)
    [difference] = found.differs
    assert (difference.field, found.confirms) == (field, False)
    assert difference.stated in (stated, *stated)
    assert difference.true


def test_a_wrong_issue_is_named_and_makes_nothing_doubtful():
    found = compare(replace(CITED, issue="4"), PAPER)
    assert [each.field for each in found.differs] == ["issue"]
    assert found.confirms


def test_an_id_of_another_paper_confirms_nothing():
    found = compare(replace(CITED, pmid="123", title="Something else about other things"), PAPER)
    assert "pmid" in found.agrees
    assert not found.confirms


@pytest.mark.parametrize(
    ("changed", "confirmed"),
    [({"title": ""}, True), ({"title": "", "pages": ""}, False), ({"title": "", "authors": (), "year": ""}, False)],
)
def test_without_a_title_the_whole_imprint_must_agree(changed, confirmed):
    assert compare(replace(CITED, **changed), PAPER).confirms is confirmed


def test_in_plain_text_the_title_is_looked_for_in_all_of_it():
    text = "Berg J: β-Müller cells of the retina: a randomized review of what they do - Br J Ophthalmol, 1998"
    assert "title" in compare(parse_citation(text), PAPER).agrees
    other = text.replace("randomized review of what they do", "randomized review of what rods do")
    assert "title" not in compare(parse_citation(other), PAPER).agrees
    last = text.replace("what they do", "what they eat").replace("review", "trial")
    assert "title" not in compare(parse_citation(last), PAPER).agrees


@pytest.mark.parametrize(
    ("text", "agrees"), [("J. Biol. Chem. 3", True), ("J Biol of Chem 3", False), ("J Biol Chemo", False)]
)
def test_in_plain_text_the_journal_stands_with_its_very_words(text, agrees):
    paper = replace(PAPER, journal=Journal("The Journal of biological chemistry", medline_abbreviation="J Biol Chem"))
    assert ("journal" in compare(work(text=f"Doe J, {text}", journal="Gut"), paper).agrees) is agrees


def test_a_field_that_the_record_lacks_neither_agrees_nor_differs():
    assert compare(CITED, Article("1")).agrees == ()
    assert compare(CITED, Article("1")).differs == ()


TITLE = "Effects of ginger on nausea in pregnancy: a randomised controlled trial"


@pytest.mark.parametrize(
    "stated",
    [
        "Effects of ginger on nausea in pregnancy",
        "EFFECTS OF GINGER ON NAUSEA IN PREGNANCY - A RANDOMIZED CONTROLLED TRIAL.",
        "Retracted article: Effects of ginger on nausea in pregnancy: a randomised controlled trial",
        "WITHDRAWN: Effects of ginger on nausea in pregnancy: a randomised controlled trial",
        "Effects of the ginger on nausea in a pregnancy: a randomised controlled trial",
        "Effects of ginger on nausea in preg nancy: a randomised controlled trial",
    ],
)
def test_a_title_is_known_without_its_subtitle_with_a_mark_and_with_other_small_words(stated):
    assert same_title(stated, TITLE) is True
    assert same_title(TITLE, TITLE.upper()) is True


@pytest.mark.parametrize("stated", ["", "...", "Retracted", "Correction to"])
def test_a_title_without_words_of_its_own_can_be_compared_with_none(stated):
    assert same_title(stated, TITLE) is None
    assert same_title(TITLE, stated) is None


def test_a_subtitle_is_left_out_only_of_a_title_of_four_words():
    assert same_title("Ginger in pregnancy", "Ginger in pregnancy: what every midwife should know today") is False
    assert same_title("Ginger in early pregnancy", "Ginger in early pregnancy: what midwives know") is True


def test_running_text_has_a_title_only_whole():
    assert contains_title(f"Doe J. 2020. {TITLE}. Gut 3:1", TITLE) is True
    assert contains_title("Doe J. 2020. Effects of ginger on nausea. Gut 3:1", TITLE) is False
    assert contains_title("", TITLE) is False


@pytest.mark.parametrize("title", ["", "Ginger", "Ginger and nausea"])
def test_a_title_of_few_words_is_not_looked_for_in_text(title):
    assert contains_title(f"Doe J. {title}. Gut 2020", title) is None


SAME = [
    ("Effects of β-catenin on CD8⁺ cells", "Effects of beta catenin on CD8+ cells"),
    ("Anaemia in paediatric patients with tumours", "Anemia in pediatric patients with tumors"),
    ("micro RNA in synovial tissue", "MicroRNA in synovial tissue"),
    ("Loss of KDM4B exacerbates bone‐fat imbalance", "Loss of KDM4B exacerbates bone-fat imbalance"),
    ("A novel coronavirus in China", "RETRACTED: A novel coronavirus in China."),
    ("Telemedicine in stroke care", "[Telemedicine in stroke care]."),
    ("Über die Wirkung von Salz auf Mäuse", "Uber die Wirkung von Salz auf Mause"),
    ("Phase transfer of metal cations", "Phase transfer of metal cations: a review of carriers"),
    ("Toxicity of Bacillus BCT-7112T", "Toxicity of Bacillus BCT-7112ᵀ"),
    ("The title of the small words", "Title of small words"),
    ("Ueber Früherkennung groesserer Stoerungen", "Über Frueherkennung größerer Störungen"),
]
OTHER = [
    ("Effects of aspirin on platelet function in mice", "Effects of heparin on platelet function in mice"),
    ("Hypertension in the elderly", "Hypotension in the elderly"),
    ("Seeing the PDB", "Seeing the PDF"),
    ("Outcomes in 2019 of surgery for obesity", "Outcomes in 2018 of surgery for obesity"),
    ("Elective versus selective caesarean section", "Immune versus selective caesarean section"),
    ("Nausea in pregnancy", TITLE),
    ("Corrigendum", "Erratum"),
    ("A", "A novel coronavirus from patients with pneumonia"),
    ("Outcomes in male mice after stroke and sepsis", "Outcomes in female and male mice after stroke and sepsis"),
    ("A controlled trial improved ginger in early pregnancy", "A controlled trial of ginger in early pregnancy"),
    ("Aspirin or heparin in patients with stroke", "Aspirin and heparin in patients with stroke"),
]


@pytest.mark.parametrize(
    ("stated", "named"),
    [
        ("Effects of Zäpfchen in male mice: a trial", "lacks “female and”"),
        ("Effects of new Zäpfchen in female and male mice: a trial", "adds “new”"),
        (
            "Effects improved Zäpfchen in female and male rats: a trial",
            "has “improved” for “of”; has “rats” for “mice”",
        ),
        ("The effects of Zaepfchen in female and male mice: a trial", ""),
        ("Something else about other things: a trial", ""),
    ],
)
def test_the_words_that_differ_from_a_title_are_named_as_they_are_spelled(stated, named):
    assert differing_words(stated, "Effects of Zäpfchen in female and male mice: a trial.") == named


def test_a_title_that_lacks_words_is_doubtful_by_them():
    found = compare(replace(CITED, title="Beta-Muller Cells: a randomised review of what they do"), PAPER)
    assert [(each.field, each.words) for each in found.differs] == [("title", "lacks “of the retina”")]
    assert not found.confirms


def test_in_plain_text_whose_title_was_not_found_the_words_that_differ_are_named_too():
    text = "J. van der Berg, β-Müller cells: a randomised review of what rods do, Br. J. Ophthalmol. 79 (1998) 1057"
    cited = replace(parse_citation(text), title="")
    [difference] = compare(cited, PAPER).differs
    assert difference.words == "lacks “of the retina”; has “rods” for “they”"
    chemistry = replace(cited, text="J. van der Berg, Br. J. Ophthalmol. 1998, 79, 1057")
    assert compare(chemistry, PAPER).differs == ()


def test_the_end_of_a_title_is_left_out_only_where_it_is_a_subtitle():
    assert same_title("Effects of ginger on nausea", "Effects of ginger on nausea in pregnancy") is False
    for mark in (": ", ". ", "? ", " - ", " – ", "--", "—", " ("):
        assert same_title("Effects of ginger on nausea", f"Effects of ginger on nausea{mark}a trial)") is True
    assert same_title("Effects of ginger on nausea", "Effects of ginger on nausea (ABC) in mice") is False


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_title_in_two_spellings_is_one(one, other):
    assert same_title(one, other) is True


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_a_title_with_another_word_is_another(one, other):
    assert same_title(one, other) is False
    assert same_title(other, one) is False


TEXT = "Doe J, {}. J Virol. 2020;1:2-9. doi:10.1/x"


@pytest.mark.parametrize(("one", "other"), SAME[:5])
def test_running_text_has_the_title_in_it(one, other):
    assert contains_title(TEXT.format(one), other) is True


@pytest.mark.parametrize(
    "stated",
    [
        "Effects of heparin on platelet function in mice",
        "Causes of aspirin on platelet function in mice",
        "Effects of aspirin on platelet function in rats",
        "Nothing of this",
    ],
)
def test_running_text_without_a_word_of_the_title_has_another(stated):
    assert contains_title(TEXT.format(stated), "Effects of aspirin on platelet function in mice") is False


def differing(stated, *authors, complete=True):
    return differing_author(work(authors=stated), Article("1", authors=authors, authors_complete=complete))


GARCIA = Author("García-López", "José María", "JM")
LI = Author("Li", "Na", "N")
GROUP = Author(collective_name="RECOVERY Collaborative Group")


@pytest.mark.parametrize(
    "stated",
    [
        "García-López JM",
        "Garcia Lopez, J. M.",
        "J.M. García",
        "López JM",
        "Garcialopez J",
        "GARCÍA-LÓPEZ, JOSÉ",
        "Garcia-Lopez JM Jr",
    ],
)
def test_a_family_name_of_two_parts_is_known_by_either_and_joined(stated):
    assert differing([stated], GARCIA, LI) is None


@pytest.mark.parametrize("stated", ["Garza JM", "Na L", "JM", "Jr", "José María"])
def test_given_names_initials_and_ranks_are_no_family_name(stated):
    assert differing([stated], GARCIA, LI) == (stated, "García-López JM")


def test_the_first_author_is_the_first_and_further_ones_come_in_any_order():
    third = Author("Okafor", "Ada", "A")
    assert differing(["García-López JM", "Okafor A", "Li N"], GARCIA, LI, third) is None
    assert differing(["Li N", "García-López JM"], GARCIA, LI) == ("Li N", "García-López JM")


def test_a_family_name_of_one_letter_is_one_and_a_group_that_signs_may_stand_first():
    assert differing(["García-López JM", "O, Joo Hyun"], GARCIA, Author("O", "Joo Hyun", "JH")) is None
    assert differing(["RECOVERY Collaborative Group"], GARCIA, GROUP) is None
    assert differing(["García-López JM"], GROUP, GARCIA) == ("García-López JM", GROUP.short_name)


def test_an_author_more_than_the_record_has_is_answered_with_those_it_has():
    assert differing(["García-López JM", "Li N", "Smith J"], GARCIA, LI) == ("Smith J", "García-López JM, Li N")
    assert differing(["García-López JM", "Li N", "Smith J"], GARCIA, LI, complete=False) is None
    assert differing(["Smith J", "Li N"], GARCIA, LI, complete=False) == ("Smith J", "García-López JM")


def test_a_name_that_the_record_corrects_is_the_corrected_one():
    wrong = Author("Gracia", "José", "J", valid=False)
    assert differing(["García-López J"], wrong, GARCIA) is None
    assert differing(["Gracia J"], wrong, GARCIA) == ("Gracia J", "García-López JM")


@pytest.mark.parametrize(("place", "seen"), [(COMPARED - 1, True), (COMPARED, False)])
def test_of_a_long_list_the_first_authors_are_compared(place, seen):
    stated = ["García-López JM"] * (COMPARED + 1)
    stated[place] = "Invented I"
    assert (differing(stated, GARCIA, LI) is not None) is seen


PLACED = Article(
    "1", title="Neglect and the cortex", doi="10.1016/j.cortex.2020.01.002",
    journal=Journal("Cortex; a journal devoted to the study of the nervous system and behavior", "Cortex", "Cortex"),
)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Doe J. Neglect and the cortex. Lancet 2020;1:2-9. doi:10.1016/j.cortex.2020.01.002",
        "Doe J. Neglect and the cortex. Lancet 2020;1:2-9. https://www.example.org/cortex/2",
        "Cortex Group. Neglect and the cortex. Lancet 2020;1:2-9.",
    ],
)
def test_a_journals_name_in_an_id_an_address_an_author_or_the_title_confirms_nothing(text):
    found = compare(replace(parse_citation(text), journal="Lancet"), PLACED)
    assert "journal" in {each.field for each in found.differs}
    right = compare(replace(parse_citation(text.replace("Lancet", "Cortex")), journal="Lancet"), PLACED)
    assert "journal" in right.agrees


@pytest.mark.parametrize(
    ("stated", "family"),
    [
        ("Frueh B", "Früh"), ("Fruh B", "Früh"), ("Früh B", "Frueh"), ("Boehm K", "Böhm"), ("Goetz, A.", "Götz"),
        ("Jaeger", "Jäger"), ("Muehlhaeuser-Groeer A", "Mühlhäuser-Gröer"), ("Gross M", "Groß"), ("Weiß M", "Weiss"),
        ("OEZKAN A", "Özkan"),
    ],
)  # fmt: skip
def test_an_umlaut_is_known_by_its_two_letters(stated, family):
    assert differing([stated], Author(family, "X", "X")) is None


@pytest.mark.parametrize(("stated", "family"), [("Fruth B", "Früh"), ("Gros M", "Groß"), ("Bohn K", "Böhm")])
def test_another_letter_makes_another_name_beside_an_umlaut(stated, family):
    assert differing([stated], Author(family, "X", "X")) is not None


BLOOD = Journal(
    "Journal of cerebral blood flow and metabolism : official journal of the Society", "J Cereb Blood Flow Metab"
)


@pytest.mark.parametrize(
    "stated",
    [
        "Blood",
        "Journal",
        "J Blood Cereb Flow Metab",
        "Cereb Blood Flow Metab",
        "J Cereb Blood Flow Neurol",
        "JC",
        "JBFM",
    ],
)
def test_another_order_another_beginning_and_a_single_word_are_of_other_journals(stated):
    assert same_journal(stated, BLOOD) is False


@pytest.mark.parametrize("stated", ["", "...", "of the"])
def test_names_are_not_compared_where_either_side_has_none(stated):
    assert same_journal(stated, BLOOD) is None
    assert same_journal("Blood", Journal(stated)) is None
    assert same_journal("Blood", None) is None


@pytest.mark.parametrize(
    ("stated", "printed", "same"),
    [
        ("N Engl J Med", "The New England journal of medicine", True),
        ("NEJM", "The New England journal of medicine", True),
        ("NEJM", "New England journal of public policy and law", False),
        ("J Cerebr Bld Flow Metabolism", "Journal of cerebral blood flow and metabolism : official journal", True),
        ("JCBFM", "Journal of cerebral blood flow and metabolism : official journal", True),
        (
            "Proc. Natl. Acad. Sci. USA",
            "Proceedings of the National Academy of Sciences of the United States of America",
            True,
        ),
        ("Eye (London, England)", "Eye (London, England)", True),
        ("Lancet (London)", "Lancet (London, England)", True),
        ("Nature (London)", "Lancet (London, England)", False),
        ("J Elb Shoulder Surg", "Journal of shoulder and elbow surgery", False),
        ("Jpn J Ophthalmol", "Japanese journal of ophthalmology", True),
        ("Dtsch Med Wochenschr", "Deutsche medizinische Wochenschrift (1946)", True),
        ("Nat Med", "Nature methods", False),
        ("Br J Surg", "British journal of sports medicine", False),
        ("Journal", "Journal of virology and immunology", False),
        ("MMWR", "MMWR. Recommendations and reports : weekly", True),
    ],
)
def test_a_journal_is_compared_by_the_beginnings_of_its_words_or_by_capitals(stated, printed, same):
    assert same_journal(stated, Journal(printed)) is same

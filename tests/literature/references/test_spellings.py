"""Whether two titles, journals or names are one."""

import pytest

from bio_mcp.literature.records import Article, Author, Journal
from bio_mcp.literature.references.authors import differing_author
from bio_mcp.literature.references.journals import same_journal
from bio_mcp.literature.references.titles import contains_phrase, contains_title, same_title
from bio_mcp.literature.references.words import aligned, alike, folded, words_of
from bio_mcp.literature.references.works import work

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
    ("The title with the small words of it", "Title with small words"),
]
OTHER = [
    ("Effects of aspirin on platelet function in mice", "Effects of heparin on platelet function in mice"),
    ("Hypertension in the elderly", "Hypotension in the elderly"),
    ("Seeing the PDB", "Seeing the PDF"),
    ("Outcomes in 2019 of surgery for obesity", "Outcomes in 2018 of surgery for obesity"),
    ("Elective versus selective caesarean section", "Immune versus selective caesarean section"),
    ("Corrigendum", "Erratum"),
    ("A", "A novel coronavirus from patients with pneumonia"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_title_in_two_spellings_is_one(one, other):
    assert same_title(one, other) is True


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_a_title_with_another_word_is_another(one, other):
    assert same_title(one, other) is False
    assert same_title(other, one) is False


def test_without_words_spellings_are_not_compared():
    assert same_title("", "A title") is None
    assert same_title("...", "A title") is None
    assert contains_title("any text at all", "Three short words") is None


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


def test_a_phrase_is_found_whole_or_not():
    assert contains_phrase("Med, J. Virol. 2020", "J Virol")
    assert not contains_phrase("Med, J. Virology 2020", "J Virol")


@pytest.mark.parametrize(
    ("one", "other", "are"),
    [
        ("tumour", "tumor", True),
        ("randomised", "randomized", True),
        ("warnng", "warning", True),
        ("male", "males", False),
        ("increase", "decrease", False),
        ("cd1234", "cd1235", False),
        ("intra", "inter", False),
        ("same", "same", True),
    ],
)
def test_a_letter_of_a_long_word_may_differ_and_no_more(one, other, are):
    assert alike(one, other) is alike(other, one) is are


def test_words_are_folded_to_one_form():
    assert folded("Łódź Øre ß æ") == "lodz ore ss ae"
    assert words_of("α-Synuclein’s H₂O, 10⁻³") == ["alpha", "synuclein", "s", "h2o", "10", "3"]
    assert list(aligned(["micro", "rna", "x"], ["microrna", "y"])) == [(["micro", "rna", "x"], ["microrna", "y"])]
    assert list(aligned(["a", "micro", "rna"], ["a", "microrna"])) == []


JOURNALS = [
    ("N Engl J Med", "The New England journal of medicine", True),
    ("NEJM", "The New England journal of medicine", True),
    (
        "Proc. Natl. Acad. Sci. USA",
        "Proceedings of the National Academy of Sciences of the United States of America",
        True,
    ),
    ("Eye (London, England)", "Eye (London, England)", True),
    ("Can Res", "Cancer research", True),
    ("J Elb Shoulder Surg", "Journal of shoulder and elbow surgery", False),
    ("Jpn J Ophthalmol", "Japanese journal of ophthalmology", True),
    ("Dtsch Med Wochenschr", "Deutsche medizinische Wochenschrift (1946)", True),
    ("J Natl Cancer Inst", "Journal of the National Cancer Institute", True),
    ("Nat Med", "Nature methods", False),
    ("BMJ", "Lancet (London, England)", False),
    ("Br J Surg", "British journal of sports medicine", False),
]


@pytest.mark.parametrize(("stated", "printed", "are"), JOURNALS)
def test_a_journal_is_compared_by_the_beginnings_of_its_words(stated, printed, are):
    assert same_journal(stated, Journal(printed)) is are


def test_a_journal_that_nobody_states_is_not_compared():
    assert same_journal("", Journal("Cell")) is None
    assert same_journal("Cell", None) is None
    assert same_journal("Cell", Journal()) is None


PAPER = Article(
    "1",
    authors=(Author("Gárcia-Muñoz", "José Luis", "JL"), Author("O", "Joo Hyun", "JH"), Author("Smith", "Ann", "A")),
)


@pytest.mark.parametrize(
    "authors",
    [
        ["Garcia-Munoz JL"],
        ["Gárcia Muñoz, J. L.", "O, Joo Hyun"],
        ["J. L. Gárcia-Muñoz", "A. Smith"],
        ["José Luis Gárcia-Muñoz"],
        ["Garcia JL", "Smith A"],
    ],
)
def test_names_are_compared_in_every_order_and_spelling(authors):
    assert differing_author(work(authors=authors), PAPER) is None


@pytest.mark.parametrize(
    ("authors", "stated", "true"),
    [
        (["Doe J"], "Doe J", "Gárcia-Muñoz JL"),
        (["Smith A", "Garcia-Munoz JL"], "Smith A", "Gárcia-Muñoz JL"),
        (["Garcia-Munoz JL", "Doe J"], "Doe J", "O JH"),
        (["Garcia-Munoz JL", "O JH", "Smith A", "Doe J"], "Doe J", "Gárcia-Muñoz JL, O JH, Smith A"),
    ],
)
def test_the_author_that_differs_is_named_with_who_is_right(authors, stated, true):
    assert differing_author(work(authors=authors), PAPER) == (stated, true)


def test_authors_beyond_an_incomplete_list_may_be_anybody():
    partial = Article("1", authors=PAPER.authors, authors_complete=False)
    assert differing_author(work(authors=["Garcia-Munoz JL", "Doe J"]), partial) is None
    assert differing_author(work(authors=["Doe J"]), partial) is not None

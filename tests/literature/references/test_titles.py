"""Whether two titles are one: the limits of what may differ."""

import pytest

from bio_mcp.literature.references.comparing import contains_title, same_title

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
    ("The title with the small words of it", "Title with small words"),
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
]


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

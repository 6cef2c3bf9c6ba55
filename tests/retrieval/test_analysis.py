"""One analysis for every engine."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.retrieval import analysis
from bio_mcp.retrieval.analysis import QUERY_TERMS, analyse, fold, query_terms


def asked(text):
    return {term for term, _ in query_terms(text)}


@pytest.mark.parametrize(
    "forms",
    [
        ("IL-6", "IL6", "IL 6", "il-6", "anti-IL-6", "IL-6-deficient"),
        ("TNF-α", "TNF-alpha", "TNFα", "TNFalpha", "TNF alpha", "TNF-α-induced"),
        ("NF-κB", "NF-kappaB", "NFkB", "NF-kB", "NFκB"),
        ("IL-1β", "IL-1beta", "IL1β", "IL1beta"),
        ("T-cell", "T cells", "T-cells", "T-cell-mediated"),
        ("COVID-19", "COVID19", "covid-19"),
        ("SARS-CoV-2", "SARS-CoV-2-infected"),
        ("H₂O", "H2O"),
        ("m²", "m2"),
        ("µg", "μg", "microg"),
        ("CD4⁺", "CD4+", "CD4"),
        ("tumour", "tumor", "Tumours"),
        ("haemorrhage", "hemorrhage"),
        ("oesophageal", "esophageal"),
        ("oedema", "edema"),
        ("randomised", "randomized", "RANDOMISED"),
        ("metastases", "metastasis"),
        ("diagnoses", "diagnosis"),
        ("mice", "mouse"),
        ("naïve", "naive"),
        ("Alzheimer’s", "Alzheimer's", "Alzheimer"),
        ("1,000", "1000"),
        ("0·05", "0.05"),
        ("ＢＲＣＡ１", "BRCA1"),
    ],
)
def test_forms_of_one_name_find_each_other(forms):
    for query in forms:
        for text in forms:
            assert asked(query) & set(analyse(f"a study of {text} here")), (query, text)


def test_a_name_is_found_by_each_of_its_parts():
    assert {"tnf", "alpha"} <= set(analyse("TNFα"))
    assert {"covid", "19"} <= set(analyse("COVID-19"))


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("WHO guidelines", {"who", "guidelin"}),
        ("who needs guidelines", {"need", "guidelin"}),
        ("to be or not to be", {"to", "be", "or", "not"}),
        ("how and why", {"how", "and", "why"}),
        ("who can smoke", {"smoke"}),
    ],
)
def test_question_words_are_looked_up_where_they_are_names_or_all_there_is(query, terms):
    assert asked(query) == terms
    assert "who" in analyse("those who smoke")  # they are in the index


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("10-15 double-blind", ["10", "15", "doubl", "blind"]),
        ("the role of NO in it", ["role", "no"]),
        ("THE ROLE OF IT", ["role"]),
        ("糖尿病の治療", ["糖尿", "尿病", "病の", "の治", "治療"]),
        ("диабет", ["диабет"]),
        ("ไทย", ["ไทย"]),
        ("한국어", ["한국어"]),
        ("हिन्दी", ["हिन्दी"]),
        ("diabetes ขมิ้น", ["diabet", "ขมิ", "มิ้", "ิ้น"]),
    ],
)
def test_the_terms_of_a_text(text, terms):
    assert analyse(text) == terms


def test_a_terms_weight_is_its_count_in_the_query_and_expansion_adds_terms_but_changes_no_weight():
    own = (("cell", 2), ("death", 1))
    assert query_terms("cell cells death") == own
    assert query_terms("cell cells death", lambda _: [("cell", 0.1), ("apoptosi", 0.2)]) == (*own, ("apoptosi", 0.2))


def test_a_very_long_query_is_bounded_and_keeps_its_beginning():
    terms = query_terms(" ".join(f"word{n}" for n in range(10_000)))
    assert len(terms) == QUERY_TERMS
    assert terms[0][0] == "word0"


def test_a_rare_exact_token_is_found_again():
    for token in ("rs123456", "NCT01234567", "10.1056/NEJMoa2034577", "BNT162b2", "c.35delG", "p.Arg117His", "x" * 500):
        assert asked(token) <= set(analyse(f"We used {token}, once."))


@given(st.text(max_size=200))
@settings(max_examples=300)
def test_any_text_gives_terms_without_white_space_and_a_query_meets_its_own_text(text):
    terms = analyse(text)
    assert all(term and not any(character.isspace() for character in term) for term in terms)
    lexical = {term for term, _ in query_terms(text)}
    assert not terms or lexical & set(terms)


PIECES = st.sampled_from(
    ["IL", "TNF", "6", "1,000", "3.5", "alpha", "α", "µ", "g", "'s", "`", "’", "-", "--", " ", "  "]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join)


@given(TEXTS)
@settings(max_examples=300)
def test_a_text_is_folded_as_its_pieces_between_spaces_are(text):
    one_piece = text.replace(" ", "\n")  # white space, too, and no space
    assert fold(f"{text} °").split() == fold(f"{one_piece}\n°").split()


@given(TEXTS)
@settings(max_examples=300)
def test_words_of_ascii_letters_are_those_that_the_rule_for_all_letters_finds(text):
    folded = fold(text)
    found = analysis._WORD.findall(folded)
    assert analysis._OTHER_LETTER.search(folded) or analysis._ASCII_WORD.findall(folded) == found

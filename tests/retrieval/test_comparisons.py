"""What a question compares, and how it would ask of each alone."""

import pytest

from bio_mcp.retrieval.findings import LONGEST, alternatives

COMPARED = [
    ("Is {} better in gout?", "colchicine or allopurinol", ["colchicine", "allopurinol"]),
    ("{} in gout?", "Colchicine or allopurinol", ["Colchicine", "allopurinol"]),
    ("In gout, {}?", "colchicine or allopurinol", ["colchicine", "allopurinol"]),
    ("Which is safer for the kidney, {}?", "ibuprofen or paracetamol", ["ibuprofen", "paracetamol"]),
    ("Should it be {} in adults?", "propranolol, topiramate, or timolol", ["propranolol", "topiramate", "timolol"]),
    ("Does {} impact survival in lung cancer?", "surgery or radiation therapy", ["surgery", "radiation therapy"]),
    ("{} for type 2 diabetes", "Metformin versus sulfonylureas", ["Metformin", "sulfonylureas"]),
    ("Drug by {}: which helps?", "2 min bolus vs. 15 min infusion", ["2 min bolus", "15 min infusion"]),
    ("Is {} better{} for gout flares?", "colchicine{} than allopurinol", ["colchicine", "allopurinol"]),
    ("Isn't {} healthier{} of Assam?", "green tea{} than the black tea", ["green tea", "black tea"]),
    ("Does {} cut flares{} in men?", "colchicine{} compared with allopurinol", ["colchicine", "allopurinol"]),
    ("How does {}{} for knee pain?", "turmeric{} compare with ibuprofen", ["turmeric", "ibuprofen"]),
    ("What is the difference between {} in atrial fibrillation?", "warfarin and apixaban", ["warfarin", "apixaban"]),
    ("How do {} compare in atrial fibrillation?", "warfarin and apixaban", ["warfarin", "apixaban"]),
]


@pytest.mark.parametrize(("form", "things", "each"), COMPARED)
def test_each_alternative_stands_in_the_place_of_all(form, things, each):
    first, _, second = things.partition("{}")
    assert alternatives(form.format(first, second)) == [(one, form.format(one, "")) for one in each]


@pytest.mark.parametrize(
    "question",
    [
        "Does vitamin D lower mortality in COVID-19?",
        "RUNX1 is downregulated or mutated in TLX1 T-ALL.",
        "Men are more susceptible to pneumonia when compared to women.",
        "Should we drink beet juice or not?",
        "Is a dose of 10 mg or more safe?",
        "Is aneurysm repair justified for patients aged 80 or older after haemorrhage?",
        "Is adrenalectomy safe for adrenal masses larger than 7 cm?",
        "Does more than one drink a day raise blood pressure?",
        "Is there a relationship between rheumatoid arthritis and periodontal disease?",
        "Was there an outbreak of shigellosis between 1988 and 2012?",
        "Are the recommendations for withholding or withdrawing treatments applicable?",
        "Should probiotics be taken before, during, or after meals?",
        "Is it caused by a white or unpigmented patch of hair or skin?",
        "Or?",
        "than",
        "?",
        "",
        "ขมิ้นชัน or ขิง",
    ],
)
def test_what_is_no_comparison_of_things_is_left_whole(question):
    assert alternatives(question) == []


def test_things_of_which_nothing_else_is_asked_are_found_by_one_search():
    assert alternatives("Flaxseeds vs. chia seeds") == []
    assert alternatives("Cooked beans or sprouted beans?") == []


def test_what_is_too_long_for_a_name_is_none():
    long = " ".join(f"word{n}" for n in range(LONGEST + 1))
    assert alternatives(f"Is {long} or colchicine better in gout?") == []


@pytest.mark.parametrize("text", ["difference between a and ", "do a and ", "a, ", "than or ", "a." * 3, "is a er "])
def test_a_hostile_question_is_read_to_its_end(text):
    assert len(alternatives((text * 1_000)[:1_000] + "?")) in (0, 2)

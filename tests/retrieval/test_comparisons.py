"""What a question compares, and how it would ask of each alone."""

import pytest

from bio_mcp.retrieval.findings import LONGEST, alternatives

COMPARED = {
    "Is colchicine or allopurinol better in gout?": {
        "colchicine": "Is colchicine better in gout?",
        "allopurinol": "Is allopurinol better in gout?",
    },
    "Colchicine or allopurinol in gout?": {
        "Colchicine": "Colchicine in gout?",
        "allopurinol": "allopurinol in gout?",
    },
    "In gout, colchicine or allopurinol?": {
        "colchicine": "In gout, colchicine?",
        "allopurinol": "In gout, allopurinol?",
    },
    "Which is safer for the kidney, ibuprofen or paracetamol?": {
        "ibuprofen": "Which is safer for the kidney, ibuprofen?",
        "paracetamol": "Which is safer for the kidney, paracetamol?",
    },
    "Should migraine be prevented with propranolol, topiramate, or candesartan in adults?": {
        "propranolol": "Should migraine be prevented with propranolol in adults?",
        "topiramate": "Should migraine be prevented with topiramate in adults?",
        "candesartan": "Should migraine be prevented with candesartan in adults?",
    },
    "Does surgery or radiation therapy impact survival in lung cancer?": {
        "surgery": "Does surgery impact survival in lung cancer?",
        "radiation therapy": "Does radiation therapy impact survival in lung cancer?",
    },
    "Metformin versus sulfonylureas for type 2 diabetes": {
        "Metformin": "Metformin for type 2 diabetes",
        "sulfonylureas": "sulfonylureas for type 2 diabetes",
    },
    "Metoclopramide by 2 min bolus vs. 15 min infusion: which relieves headache?": {
        "2 min bolus": "Metoclopramide by 2 min bolus: which relieves headache?",
        "15 min infusion": "Metoclopramide by 15 min infusion: which relieves headache?",
    },
    "Is colchicine better than allopurinol for gout flares?": {
        "colchicine": "Is colchicine better for gout flares?",
        "allopurinol": "Is allopurinol better for gout flares?",
    },
    "Isn't green tea healthier than the black tea of Assam?": {
        "green tea": "Isn't green tea healthier of Assam?",
        "black tea": "Isn't black tea healthier of Assam?",
    },
    "Does colchicine reduce flares compared with allopurinol in adults with gout?": {
        "colchicine": "Does colchicine reduce flares in adults with gout?",
        "allopurinol": "Does allopurinol reduce flares in adults with gout?",
    },
    "How does turmeric compare with ibuprofen for knee pain?": {
        "turmeric": "How does turmeric for knee pain?",
        "ibuprofen": "How does ibuprofen for knee pain?",
    },
    "What is the difference between warfarin and apixaban in atrial fibrillation?": {
        "warfarin": "What is the difference between warfarin in atrial fibrillation?",
        "apixaban": "What is the difference between apixaban in atrial fibrillation?",
    },
    "How do warfarin and apixaban compare in atrial fibrillation?": {
        "warfarin": "How do warfarin compare in atrial fibrillation?",
        "apixaban": "How do apixaban compare in atrial fibrillation?",
    },
}


@pytest.mark.parametrize("question", COMPARED)
def test_each_alternative_stands_in_the_place_of_all(question):
    assert dict(alternatives(question)) == COMPARED[question]
    assert [thing for thing, _ in alternatives(question)] == list(COMPARED[question])


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

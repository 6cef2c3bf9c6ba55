"""What an agent pays for answers over the bundled sample: bytes of their text."""

from statistics import fmean

import pytest

from bio_mcp.call import call
from bio_mcp.catalog import TOOLS
from bio_mcp.syncing.applying import apply_records
from tests.doors.command_line import sample
from tests.support.sample_corpus import Corpus

QUESTIONS = """
does acupuncture help against migraine?
what are the risk factors of severe COVID-19?
vitamin D and COVID-19
Does calcifediol reduce mortality in COVID-19?
Does HPV vaccination reduce cervical cancer?
Is ketamine effective for treatment-resistant depression?
Does catheter ablation beat antiarrhythmic drugs as first-line treatment of atrial fibrillation?
Is metformin neuroprotective after brain injury?
knee osteoarthritis pain
breast cancer screening
vaccine hesitancy in health care workers
mental health of students during the pandemic
antibiotic resistance in bacteria
diabetes and cardiovascular risk
machine learning for medical imaging
gut microbiome
COVID-19
cancer patients survival
treatment of hypertension in older adults
pregnancy outcomes
children and school closure
surgery complications
""".strip().splitlines()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    made = Corpus(tmp_path_factory.mktemp("sizes"), papers := sample())
    apply_records(papers, made)
    yield made
    made.close()


def sizes(whole, tool, field, **more):
    answers = [call(TOOLS[tool], {field: each, **more}, whole) for each in QUESTIONS]
    found = [len(each.text.encode()) for each in answers]
    print(f"{tool}: {fmean(found):,.0f} bytes in the mean, {max(found):,} at most")
    return answers, found


@pytest.mark.timeout(300)
def test_ten_hits_are_4500_bytes_at_most(whole):
    answers, found = sizes(whole, "rag.search", "query", top_k=10)
    assert sum(len(each.body["results"]) == 10 for each in answers) >= 5
    assert max(found) <= 4_500
    assert fmean(found) <= 3_000
    assert all(hit["snippet"] and hit["url"] for each in answers for hit in each.body["results"])


@pytest.mark.timeout(300)
def test_an_answer_is_5500_bytes_at_most(whole):
    answers, found = sizes(whole, "rag_answer", "question")
    assert sum(not each.body["withheld"] for each in answers) >= 5
    assert max(found) <= 5_500
    assert fmean(found) <= 3_000

"""rag.get and the two resources of a paper."""

from datetime import date

import pytest

from bio_mcp.call import call, read
from bio_mcp.literature.records import (
    AbstractSection,
    Author,
    Databank,
    Document,
    Journal,
    PartialDate,
    RetractionStatus,
)
from bio_mcp.tools.get_doc import pubmed_paper, rag_get, study
from tests.support.memory_corpus import Corpus, article
from tests.support.validation import validate

PAPER = article(
    "384001",
    "Once-weekly XYZ shows weight reduction.",
    "",
    types=[("D016449", "Randomized Controlled Trial")],
    mesh=[("D006801", "Humans")],
    journal=Journal(title="The New England journal of medicine", nlm_id="0255562"),
    edat="2024-06-02T06:00",
    date_revised=date(2024, 6, 15),
    pmcid="PMC1234567",
    doi="10.1/x",
    authors=(Author("Smith", "Jane", "J", "Jr"), Author(collective_name="XYZ Group")),
)
PAPER.publication_date = PartialDate("2024 May 11", 2024, 5, 11)
PAPER.abstract = (AbstractSection("Background", None, "It was unknown."), AbstractSection("Results", None, "It works."))


@pytest.fixture
def corpus():
    corpus = Corpus(PAPER, article("2", None, "", None, retraction=RetractionStatus.RETRACTED))
    corpus.add(Document(PAPER, "hash", version=2))
    return corpus


def test_a_paper_is_read_as_the_contract_shows_it(corpus):
    body = call(rag_get, {"doc_id": "pmid:384001"}, corpus).body
    validate(body, rag_get.output_schema)
    assert body.pop("next_step") == "getFullText id=PMC1234567 for the text"
    assert body == {
        "doc_id": "pmid:384001",
        "title": "Once-weekly XYZ shows weight reduction.",
        "abstract": "Background: It was unknown. Results: It works.",
        "journal": "The New England journal of medicine",
        "pub_types": ["Randomized Controlled Trial"],
        "pdat": "2024-05-11",
        "edat": "2024-06-02T10:00:00Z",
        "lr": "2024-06-15T00:00:00Z",
        "pmcid": "PMC1234567",
        "quality": body["quality"],
        "version": 2,
        "doi": "10.1/x",
        "authors": ["Smith J Jr", "XYZ Group"],
        "year": 2024,
        "retraction": "clear",
        "study": {"design": "randomized controlled trial", "humans": True, "short": "RCT"},
    }
    assert body["quality"].pop("reasons")[0] == "randomized controlled trial (+2)"
    parts = {"design": 2, "recency": 2, "journal": 2, "human": 2}
    assert body["quality"] == {**parts, "total": 8, "version": 2}


STATED = (
    AbstractSection(
        "Méthodes \U0001d54f", "METHODS", "A total of 334 patients (ag\u0301e\u0301s, \U0001d4d0) were randomized."
    ),
    AbstractSection("UNASSIGNED", None, "It fell (HR 0.72, 95% CI 0.58-0.90; p=0.003) in \U0001f9ec carriers\u202e."),
    AbstractSection("Results", "RESULTS", "Pain was equal (MD 0, 95% CI -1.5 to 2)."),
)


def stated_paper(pmid="9", sections=STATED, **more):
    paper = article(pmid, "A trial", "", types=[("D016449", "Randomized Controlled Trial")], **more)
    paper.abstract = sections
    return paper


def test_what_the_abstract_states_of_its_study_is_told_with_its_places_in_the_abstract_as_answered():
    body = call(rag_get, {"doc_id": "pmid:9"}, Corpus(stated_paper())).body
    validate(body, rag_get.output_schema)
    study, text = body["study"], body["abstract"]
    quoted = [text[each["start"] : each["end"]] for each in (study["participants"], *study["effects"])]
    assert quoted == ["334 patients", "HR 0.72, 95% CI 0.58-0.90; p=0.003", "MD 0, 95% CI -1.5 to 2"]
    assert (study["design"], study["humans"], study["participants"]["n"]) == ("randomized controlled trial", True, 334)
    numbers = [{name: each for name, each in of.items() if name not in ("start", "end")} for of in study["effects"]]
    hazard = {"measure": "HR", "value": 0.72, "low": 0.58, "high": 0.9, "level": 95, "p": "0.003"}
    assert numbers == [hazard, {"measure": "MD", "value": 0, "low": -1.5, "high": 2, "level": 95}]
    assert study["short"] == "RCT, n = 334; HR 0.72, 95 % CI 0.58 to 0.90"


def test_what_is_not_stated_is_absent_and_no_is_stated():
    plain, animals = article("7", "A title", "A text."), article("8", "Mice", "", mesh=[("D000818", "Animals")])
    corpus = Corpus(plain, animals)
    assert "study" not in call(rag_get, {"doc_id": "pmid:7"}, corpus).body
    study = call(rag_get, {"doc_id": "pmid:8"}, corpus).body["study"]
    assert study == {"design": "preclinical study", "humans": False, "short": "preclinical study"}


def test_an_abstract_that_is_cut_has_no_places_behind_its_end_and_effects_that_fit():
    many = AbstractSection(None, None, "It fell. " * 400 + "The risk fell (RR 0.5, 95% CI 0.4-0.6). " * 300)
    corpus = Corpus(stated_paper(sections=(*STATED, many)))
    body = call(rag_get, {"doc_id": "pmid:9", "max_characters": 3_000}, corpus)
    assert len(body.text) <= 3_000
    study, text = body.body["study"], body.body["abstract"]
    assert "characters of the abstract" in body.body["left_out"]
    assert body.body["left_out"].endswith(f"{302 - len(study['effects'])} effects")
    for each in (study["participants"], *study["effects"]):
        assert each.get("end", 0) <= len(text)
    assert "start" in study["participants"]
    assert [each.get("start") for each in study["effects"]][-1] is None


def test_what_a_record_does_not_say_is_null_and_a_retraction_is_total_zero(corpus):
    body = call(rag_get, {"doc_id": "pmid:2"}, corpus).body
    assert (body["title"], body["abstract"], body["pdat"], body["edat"], body["lr"]) == (None,) * 5
    assert body["retraction"] == "retracted"
    assert (body["quality"]["design"], body["quality"]["total"]) == (None, 0)


def test_a_paper_that_is_not_there_is_reported_missing_with_what_to_do(corpus):
    error = call(rag_get, {"doc_id": "pmid:999"}, corpus).body["error"]
    assert error["code"] == "NOT_FOUND"
    assert "pmid:999 is not in the corpus" in error["message"]
    assert "rag_search" in error["message"]  # as tools are listed
    assert "pubmed_sync_delta" in error["message"]


def test_a_study_is_read_as_the_other_family_shows_it(corpus):
    body = read(study, study.match("paper://pmid/384001"), corpus).body
    paper = call(rag_get, {"doc_id": "pmid:384001"}, corpus).body
    same = ("title", "abstract", "authors", "journal", "year", "retraction")
    assert {name: body.pop(name) for name in same} == {name: paper[name] for name in same}
    pages = ["https://doi.org/10.1/x", "https://pmc.ncbi.nlm.nih.gov/articles/PMC1234567/"]
    assert body == {"pmid": "384001", "links": ["https://pubmed.ncbi.nlm.nih.gov/384001/", *pages]}


def test_each_family_has_its_own_words_for_the_same_failure(corpus):
    assert read(study, {"id": "abc"}, corpus).body["error"]["code"] == "INVALID_ARG"
    assert read(pubmed_paper, {"pmid": "abc"}, corpus).body["error"]["code"] == "VALIDATION"
    assert read(study, {"id": "999"}, corpus).body["error"]["code"] == "NOT_FOUND"


def test_trials_that_the_record_names_are_linked():
    corpus = Corpus(article("7", databanks=(Databank("ClinicalTrials.gov", ("NCT01234567",)),)), article("8"))
    body = call(rag_get, {"doc_id": "pmid:7"}, corpus).body
    validate(body, rag_get.output_schema)
    url = "https://clinicaltrials.gov/study/NCT01234567"
    assert body["trials"] == [{"registry": "ClinicalTrials.gov", "number": "NCT01234567", "url": url}]
    assert "trials" not in call(rag_get, {"doc_id": "pmid:8"}, corpus).body

"""A batch of documents: what a dry run lists is what a real run writes, once, and no more."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bio_mcp.deadline import Deadline
from bio_mcp.errors import Forbidden, InvalidInput, ModelMismatch, NotFound
from bio_mcp.extracting.reading import read_lines
from bio_mcp.extracting.run import DEFAULT_PROJECT, MOST, Provider
from bio_mcp.graph.nodes import Evidence, Node, NodeType, edge_of, merge_edges
from bio_mcp.literature.records import Document, RetractionStatus
from tests.extracting.herbarium import left_by, problems, writes
from tests.ingesting.library import PROJECT
from tests.ingesting.test_jobs import Clock, SlowParser
from tests.support.corpus import HashedWords
from tests.support.memory_corpus import article

CLEAR = (
    "# Results\nTestwort interacts with placebin. Mockroot may treat imaginary cough.\n# Methods\nMockroot was weighed."
)


def write_files(herbarium):
    """Two documents, and a second file of a paper that says something else."""
    herbarium.write("a.md", f"doi: 10.1000/a\n{CLEAR}")
    herbarium.write("b.md", "Mockroot contains testin.\n\nMockroot is not contraindicated in pregnancy.")
    herbarium.write("d.md", "doi: 10.1000/a\nPlainleaf is contraindicated in pregnancy.")


def test_a_dry_run_lists_byte_for_byte_what_a_real_run_writes(herbarium):
    write_files(herbarium)
    before = herbarium.stored
    listed = writes(herbarium.run(dry_run=True))
    assert herbarium.stored == before
    assert writes(herbarium.run()) == listed
    assert herbarium.stored - before == left_by(listed)
    assert before - herbarium.stored == set()


def test_only_clear_statements_of_known_nodes_become_edges_with_quote_and_document(herbarium):
    write_files(herbarium)
    before = herbarium.edges
    ran = herbarium.run()
    new = {key: each for key, each in herbarium.edges.items() if each != before.get(key)}
    assert new.keys() == {("H1", "interacts_with", "D1"), ("H2", "has_constituent", "C1")}
    edge = new["H1", "interacts_with", "D1"]
    assert [each.quote for each in edge.evidence] == ["Testwort interacts with placebin."]
    [source] = edge.sources
    assert source.startswith(f"document:{DEFAULT_PROJECT}/doc:")
    assert sorted(filter(None, problems(ran))) == ["the sentence denies something", "the sentence leaves it open"]


def test_what_is_known_already_is_merged_and_the_list_has_what_is_added(herbarium):
    herbarium.write("a.md", "pmid: 42\nTestwort interacts with Mockroot.")
    before = herbarium.edges["H1", "interacts_with", "H2"]
    [line] = [each for each in herbarium.run().lines if each.get("write") == "edge"]
    assert edge_of(line).evidence == (Evidence("42", "Testwort interacts with Mockroot."),)
    assert herbarium.edges["H1", "interacts_with", "H2"] == merge_edges(before, edge_of(line))


def test_a_second_run_writes_nothing(herbarium):
    write_files(herbarium)
    herbarium.run()
    stored, revision, embedded = herbarium.stored, herbarium.graph.revision(), herbarium.model.embedded
    again = herbarium.run()
    assert (writes(again), herbarium.stored, herbarium.graph.revision()) == ([], stored, revision)
    assert herbarium.model.embedded == embedded
    assert herbarium.run(dry_run=True).report.cursor.written == 0


def test_a_dry_run_embeds_nothing_and_makes_no_project(herbarium):
    write_files(herbarium)
    herbarium.run(dry_run=True)
    assert herbarium.model.embedded == 0
    assert [each.project_id for each in herbarium.projects.all()] == [PROJECT]


def test_passages_go_to_the_project_that_is_named_and_else_to_the_default_one(herbarium):
    herbarium.write("a.md", CLEAR)
    assert (herbarium.run(project=PROJECT).project, len(herbarium.texts)) == (PROJECT, 2)
    assert herbarium.run().project == DEFAULT_PROJECT
    assert herbarium.projects.get(DEFAULT_PROJECT)
    with pytest.raises(NotFound, match="lab/heart-failure"):
        herbarium.run(project="lab/none")


def test_a_project_of_another_model_or_without_its_index_is_refused_before_anything_is_read(herbarium):
    herbarium.write("a.md", CLEAR)
    herbarium.model = type("Other", (HashedWords,), {"fingerprint": "other"})()
    with pytest.raises(ModelMismatch):
        herbarium.run(project=PROJECT)
    assert herbarium.plain.read == []


def test_a_name_that_comes_into_the_graph_is_found_by_the_next_run(herbarium):
    herbarium.write("a.md", "Newwort interacts with placebin.")
    assert [each["write"] for each in herbarium.run(dry_run=True).lines if "write" in each][-1] == "document"
    herbarium.graph.put([Node("H7", NodeType.HERB, {"en": "Newwort"})], [])
    [line] = [each for each in herbarium.run(dry_run=True).lines if each.get("write") == "edge"]
    assert line["from"] == "H7"


def test_a_retracted_paper_states_nothing(herbarium):
    retracted = article("42", retraction=RetractionStatus.RETRACTED)
    herbarium.documents.put([Document(retracted, "hash")])
    herbarium.write("a.md", f"pmid: 42\n{CLEAR}")
    before = herbarium.edges
    assert set(problems(herbarium.run())) == {"the paper was retracted"}
    assert herbarium.edges == before


def test_the_log_has_every_mention_with_its_candidates_and_the_reason_for_the_first(herbarium):
    herbarium.write("a.md", "Radix ficta was bought. Mockroot was weighed.")
    ran = herbarium.run(dry_run=True)
    first, _ = (each for each in ran.lines if "mention" in each)
    assert first == {
        "mention": "Radix ficta",
        "chars": [0, 11],
        "section": None,
        "denied": False,
        "candidates": [{"id": "H2", "type": "herb", "label": "Mockroot", "by": "Radix ficta"}],
        "reason": "the only node of this name",
        "certain": True,
    }


def test_a_document_that_cannot_be_read_is_a_warning_and_the_others_go_on(herbarium):
    herbarium.write("a.md", b"\xff")
    herbarium.write("b.md", CLEAR)
    ran = herbarium.run()
    assert (ran.report.cursor.failed, ran.report.cursor.written) == (1, 1)
    assert {"warning": "'a.md': it is damaged: it is no text"} in ran.lines


@pytest.mark.parametrize(
    ("more", "choices"),
    [
        ({"ner": Provider("spacy")}, "ner.provider: there is no 'spacy'; there is gazetteer"),
        ({"ocr": Provider("abbyy")}, "ocr.provider: there is no 'abbyy'; there is tesseract"),
        ({"ocr": Provider("tesseract", {"languages": ["klingon"]})}, "ocr.params.languages: should be a list of codes"),
        ({"ocr": Provider("tesseract", {"languages": []})}, "ocr.params.languages: should be a list of codes"),
    ],
)
def test_an_unknown_provider_or_language_is_an_error_that_names_the_choices(herbarium, more, choices):
    with pytest.raises(InvalidInput, match=choices.replace("(", r"\(")):
        herbarium.run(**more)


def test_the_languages_of_scans_are_those_of_the_call(herbarium):
    herbarium.write("a.md", CLEAR)
    herbarium.run(dry_run=True)
    assert herbarium.plain.languages == ["en", "th"]
    herbarium.run(dry_run=True, ocr=Provider("tesseract", {"languages": ["tha"]}))
    assert herbarium.plain.languages == ["tha"]


def test_somebody_elses_files_are_refused_and_a_continuation_reads_what_its_user_might(herbarium):
    for n in range(6):
        herbarium.write(f"{n}.md", f"{n}. {CLEAR}")
    with pytest.raises(Forbidden, match="BIO_MCP_INGEST_ROOTS"):
        herbarium.run(local=False)
    clock = Clock()
    herbarium.plain = SlowParser(clock, 4)
    first = herbarium.run(deadline=Deadline(15, clock))
    assert (first.report.state, first.report.cursor.written) == ("continues", 3)
    _, event = herbarium.continuations.receive(60)
    assert (event["tool"], event["arguments"]["job_id"]) == ("ingest.run", first.report.job_id)
    rest = herbarium.run(deadline=Deadline(300, clock), local=False, unattended=True, job_id=first.report.job_id)
    assert (rest.report.state, rest.report.cursor.written) == ("complete", 6)
    assert len([line for line in writes(rest) if b'"write":"document"' in line]) == 6


def test_a_job_of_another_batch_and_an_unknown_one_are_refused(herbarium):
    herbarium.write("a.md", CLEAR)
    job_id = herbarium.run().report.job_id
    with pytest.raises(InvalidInput, match="job of another project or source"):
        herbarium.run(dry_run=True, job_id=job_id)
    with pytest.raises(NotFound, match="no job"):
        herbarium.run(job_id="ingest_run_x")


def test_too_many_documents_are_refused_before_any_is_read(herbarium):
    for n in range(MOST + 1):
        herbarium.write(f"{n}.md", "Text.")
    with pytest.raises(InvalidInput, match=r"101 documents; 100 are the most"):
        herbarium.run()
    assert herbarium.plain.read == []


class Endless(Clock):
    """Each look at the clock takes a second."""

    def __call__(self):
        self.now += 1
        return self.now


def test_a_document_with_more_sentences_than_time_is_given_up_and_nothing_of_it_is_written(herbarium):
    herbarium.write("a.md", "Testwort grows. " * 400)
    before = herbarium.stored
    first = herbarium.run(deadline=Deadline(60, Endless()))
    assert first.report.state == "continues"
    for _ in range(2):
        last = herbarium.run(deadline=Deadline(60, Endless()), unattended=True, job_id=first.report.job_id)
    assert (last.report.state, last.report.cursor.failed) == ("complete", 1)
    assert herbarium.stored == before


def test_the_log_is_at_its_address_and_is_what_the_answer_is_made_of(herbarium):
    herbarium.write("a.md", CLEAR)
    ran = herbarium.run()
    path = Path(urlsplit(herbarium.blobs.uri(ran.log)).path)
    assert str(herbarium.files) not in path.read_text(encoding="utf-8")
    assert read_lines(path.read_bytes()) == ran.lines
    assert ran.lines[0]["job"] == ran.report.job_id

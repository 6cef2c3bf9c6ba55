"""`bio-mcp eval run`, and under `admin` indexes and models."""

import json
import shutil
from itertools import islice

import pytest

from bio_mcp.adapters.embedders.model_files import DEFAULT, GRAPH
from tests.adapters.embedders.tiny_model import published, published_reranker
from tests.doors.command_line import sample
from tests.evaluating.asked import ARTICLES, Worse
from tests.support.corpus import Corpus, HashedWords
from tests.tools.test_evaluate import LINES


@pytest.fixture
def lab(cli, tmp_path):
    """The command line over a corpus, with a file of questions and one for the baseline."""
    cli.questions, cli.baseline = str(tmp_path / "questions.jsonl"), tmp_path / "baseline.json"
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    cli.settings["eval_baseline"] = str(cli.baseline)
    cli.add(*ARTICLES)
    return cli


def test_the_figures_are_shown_with_their_intervals_and_where_the_report_is(lab):
    lab.settings.clear()
    ran = lab("eval", "run", "--set", lab.questions, "--metric", "MRR")
    assert ran.code == 0
    assert "MRR 1 0.75 1 12" in ran.said
    assert "report uri file:///" in ran.said


def test_the_report_is_written_to_a_file_too(lab, tmp_path):
    lab.settings.clear()
    assert lab("eval", "run", "--set", lab.questions, "--report", str(tmp_path / "report.html")).code == 0
    assert "Evaluation: custom" in (tmp_path / "report.html").read_text()
    refused = lab("eval", "run", "--set", lab.questions, "--report", str(tmp_path / "no/report.html"))
    assert (refused.code, "cannot be written" in refused.err) == (1, True)


def test_a_ranking_that_is_made_worse_fails_against_the_baseline_and_an_equal_one_does_not(lab):
    assert lab("eval", "run", "--set", lab.questions, "--update-baseline").code == 0
    assert lab("eval", "run", "--set", lab.questions, "--json").json["regressions"] == []
    lab.corpus = lambda: Worse(lab.home)
    ran = lab("eval", "run", "--set", lab.questions)
    assert ran.code == 1
    assert "regression: MRR is 0." in ran.err
    assert "it was 1.000 (0.750 to 1.000)" in ran.err


def test_questions_that_changed_cannot_be_compared(lab, tmp_path):
    lab("eval", "run", "--set", lab.questions, "--update-baseline")
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, LINES[:5])))
    ran = lab("eval", "run", "--set", lab.questions, "--json")
    assert ran.code == 1
    assert "another version of the set" in ran.json["regressions"][0]


def test_a_baseline_that_is_not_there_or_has_nothing_of_the_set_is_reported(lab):
    ran = lab("eval", "run", "--set", lab.questions)
    assert (ran.code, "--update-baseline makes one" in ran.err) == (1, True)
    lab.baseline.write_text("{}")
    ran = lab("eval", "run", "--set", lab.questions)
    assert (ran.code, "has no figures of custom" in ran.said) == (0, True)
    lab.baseline.write_text("nonsense")
    assert "no file of baselines" in lab("eval", "run", "--set", lab.questions).err


def test_a_baseline_is_updated_only_where_a_file_is_named(lab):
    lab.settings.clear()
    ran = lab("eval", "run", "--set", lab.questions, "--update-baseline")
    assert (ran.code, "BIO_MCP_EVAL_BASELINE" in ran.err) == (2, True)


def test_an_evaluation_that_another_process_runs_is_not_started_again(lab):
    corpus = Corpus(lab.home)
    started = lab("eval", "run", "--set", lab.questions, "--update-baseline", "--json").json
    job = corpus.jobs.get(started["job_id"])
    job.state = "running"
    corpus.jobs.put(job)
    corpus.leases.acquire(job.lease, "another", 60)
    ran = lab("eval", "run", "--set", lab.questions)
    corpus.close()
    assert (ran.code, "another process is at it" in ran.shown) == (1, True)


PAPERS = 8


class Seeing(HashedWords):
    """A model that knows what the words of the questions mean, which no paper has."""

    def embed_questions(self, texts):
        return self.embed([text.replace("zz", "") for text in texts])


@pytest.fixture
def asked(tmp_path):
    """A file of questions: the titles, as words that no paper has."""
    papers = [each for each in islice(sample(), PAPERS) if each.title]
    texts = {each.pmid: " ".join(f"zz{word}" for word in each.title.split()) for each in papers}
    lines = [{"id": pmid, "question": text, "pmids": [pmid]} for pmid, text in texts.items()]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return str(file)


def roles(ran):
    return [(each["role"], each["model"], each["papers"], each["behind"]) for each in ran.json["indexes"]]


def test_a_model_is_changed_in_steps_and_back(cli, asked):
    cli.fill(PAPERS)
    cli.other_models = [HashedWords("-2")]
    old, new = ("hashed-words", PAPERS, 0), ("hashed-words-2", PAPERS, 0)
    started = cli("admin", "reindex", "start", "--model", "hashed-words-2", "--json")
    assert (started.code, roles(started)) == (0, [("searched", *old), ("next", *new)])
    assert roles(cli("admin", "reindex", "status", "--json")) == [("searched", *old), ("next", *new)]
    compared = cli("admin", "reindex", "compare", "--set", asked)
    assert compared.code == 0
    assert "nDCG@10" in compared.out
    assert "Of the first ten papers" in compared.out
    assert roles(cli("admin", "reindex", "switch", "--set", asked, "--json")) == [
        ("searched", *new),
        ("previous", *old),
    ]
    assert cli("search", "cancer", "--json").code == 0
    assert roles(cli("admin", "reindex", "rollback", "--json")) == [("searched", *old), ("next", *new)]
    assert roles(cli("admin", "reindex", "remove", "--json")) == [("searched", *old)]
    assert "searched" in cli("admin", "reindex", "status").out


def test_an_index_that_finds_less_is_switched_to_only_unchecked(cli, asked):
    cli.fill(PAPERS)
    cli.other_models = [Seeing("-2")]
    cli("admin", "reindex", "start", "--model", "hashed-words-2")
    cli("admin", "reindex", "switch", "--set", asked)
    cli("admin", "reindex", "remove")
    cli.other_models.append(HashedWords("-3"))
    cli("admin", "reindex", "start", "--model", "hashed-words-3")
    compared = cli("admin", "reindex", "compare", "--set", asked, "--json")
    assert (compared.code, compared.json["worse"][0]) == (1, "nDCG@10")
    assert "worse by more than chance" in cli("admin", "reindex", "compare", "--set", asked).err
    refused = cli("admin", "reindex", "switch", "--set", asked)
    assert refused.code == 1
    assert "finds less: nDCG@10" in refused.err
    assert roles(cli("admin", "reindex", "switch", "--unchecked", "--json"))[0][1] == "hashed-words-3"


def test_what_is_not_there_is_refused_by_a_sentence(cli, asked):
    cli.fill(PAPERS)
    assert "already" in cli("admin", "reindex", "start").err
    assert "There is no next index" in cli("admin", "reindex", "switch", "--set", asked).err
    assert "There is no previous index" in cli("admin", "reindex", "rollback").err
    assert roles(cli("admin", "reindex", "remove", "--json"))[0][0] == "searched"


def test_an_index_of_the_same_model_is_made_anew_and_must_find_the_same(cli, asked):
    cli.fill(PAPERS)
    same = ("hashed-words", PAPERS, 0)
    assert roles(cli("admin", "reindex", "start", "--force", "--json")) == [("searched", *same), ("next", *same)]
    compared = cli("admin", "reindex", "compare", "--set", asked, "--json").json
    assert (compared["figures"][0]["name"], compared["overlap"], compared["worse"]) == ("alike@10", 1, [])
    assert roles(cli("admin", "reindex", "switch", "--set", asked, "--json")) == [
        ("searched", *same),
        ("previous", *same),
    ]


def test_an_index_that_lost_papers_is_completed(cli):
    cli.fill(20)
    corpus = cli.corpus()
    corpus.passages.delete(list(corpus.documents.pmids())[:15])
    corpus.close()
    assert cli("admin", "reindex").out.startswith("The index is complete: 20 papers, ")
    again = cli("admin", "reindex", "--json")
    assert (again.code, again.json["documents"], again.json["indexed"]) == (0, 20, 20)
    assert again.json["another_model"] is False


def test_a_lost_index_is_named_with_the_command_that_makes_it_again(cli):
    cli.fill(PAPERS)
    cli.other_models = [HashedWords("-2")]
    cli("admin", "reindex", "start", "--model", "hashed-words-2")
    cli("admin", "reindex", "switch", "--unchecked")
    shutil.rmtree(cli.home / "indexes")
    assert "was lost; bio-mcp admin reindex makes it" in cli("admin", "reindex", "status").err
    assert "or `bio-mcp admin reindex`" in cli("doctor").out
    assert cli("admin", "reindex").code == 0
    assert roles(cli("admin", "reindex", "status", "--json"))[0][2:] == (PAPERS, 0)


def test_an_empty_corpus_has_an_empty_index(cli):
    assert cli("admin", "reindex", "--json").json["indexed"] == 0


@pytest.fixture
def models(cli, tmp_path):
    cli.settings |= {"models": tmp_path / "models", "embedding_model": "tiny"}
    return tmp_path / "models"


@pytest.fixture
def source(tmp_path):
    return published(tmp_path / "tiny", prompts={"query": "query: "})


def test_the_model_of_the_package_is_listed(cli, models):
    [body] = cli("admin", "models", "list", "--json").json["installed"]
    assert (body["name"], body["licence"], body["dim"], body["whole"]) == (DEFAULT, "MIT", 384, True)
    assert DEFAULT in cli("admin", "models", "list").shown


def test_an_added_model_is_listed_and_says_how_it_is_used(cli, models, source):
    ran = cli("admin", "models", "add", str(source), "--licence", "MIT")
    assert ran.code == 0
    said = ran.said
    assert "tiny is installed: 8 dimensions, 12 tokens, cls pooling, licence MIT." in said
    assert "set BIO_MCP_EMBEDDING_MODEL=tiny, then run bio-mcp admin reindex" in said
    _, body = cli("admin", "models", "list", "--json").json["installed"]
    assert (body["name"], body["licence"], body["before_questions"]) == ("tiny", "MIT", "query: ")
    assert body["in_use"] is body["whole"] is True


def test_a_harmed_model_is_listed_as_such_and_not_measured(cli, models, source):
    cli("admin", "models", "add", str(source))
    (models / "tiny" / GRAPH).write_bytes(b"harmed")
    assert cli("admin", "models", "list", "--json").json["installed"][1]["whole"] is False
    ran = cli("admin", "models", "score", "tiny")
    assert ran.code == 1
    assert f"there are {DEFAULT}" in ran.said
    (models / "tiny" / "model.json").write_text("{")
    assert cli("admin", "models", "list", "--json").json["installed"][1] == {
        "name": "tiny",
        "whole": False,
        "in_use": False,
    }


def test_a_folder_without_a_graph_is_an_error_of_one_sentence(cli, models, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = cli("admin", "models", "add", str(tmp_path / "empty"))
    assert ran.code == 1
    assert ran.err.startswith("error: The model cannot be read: it has no onnx/model.onnx")
    assert not models.exists()


def test_a_reranker_is_added_by_a_flag_and_not_measured_as_an_embedding_model(cli, models, tmp_path):
    source = published_reranker(tmp_path / "reader")
    ran = cli("admin", "models", "add", str(source), "--reranker", "--licence", "MIT")
    assert ran.code == 0
    assert "BIO_MCP_RERANKER=onnx and BIO_MCP_RERANKER_MODEL=reader" in ran.said
    _, body = cli("admin", "models", "list", "--json").json["installed"]
    assert (body["name"], body["pooling"], body["licence"]) == ("reader", "pairs", "MIT")
    assert f"there are {DEFAULT}" in cli("admin", "models", "score", "reader").said


def test_models_are_not_added_to_a_stack_on_aws(cli, models, source):
    cli.settings["mode"] = "aws"
    ran = cli("admin", "models", "add", str(source))
    assert ran.code == 1
    assert "BIO_MCP_MODE is aws" in ran.said

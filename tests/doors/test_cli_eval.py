"""`bio-mcp eval run`: figures, a report, and a failure where they are worse than they were."""

import json

import pytest

from bio_mcp.syncing.importing import import_records
from tests.corpus import Corpus
from tests.evaluating.asked import ARTICLES, Worse
from tests.tools.test_evaluate import LINES


@pytest.fixture
def lab(cli, tmp_path):
    """The command line over a corpus, with a file of questions and one for the baseline."""
    cli.questions, cli.baseline = str(tmp_path / "questions.jsonl"), tmp_path / "baseline.json"
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, LINES)))
    cli.settings["eval_baseline"] = str(cli.baseline)
    corpus = cli.corpus()
    import_records(ARTICLES, corpus)
    corpus.close()
    return cli


def test_the_figures_are_shown_with_their_intervals_and_where_the_report_is(lab):
    lab.settings.clear()
    ran = lab("eval", "run", "--set", lab.questions, "--metric", "MRR")
    assert ran.code == 0
    assert "MRR 1.000 0.750 to 1.000 12" in " ".join(ran.shown.split())
    assert "report: file:///" in ran.shown


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
    assert (ran.code, "has no figures of custom" in " ".join(ran.err.split())) == (0, True)
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
    assert (ran.code, "another process is evaluating" in ran.shown) == (1, True)

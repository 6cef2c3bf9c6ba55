"""An evaluation is a job: it fills the set's corpus, asks its questions, and goes on where it was stopped."""

from dataclasses import replace

import pytest

from bio_mcp.deadline import NEVER, Deadline, silent
from bio_mcp.evaluating.figures import chosen
from bio_mcp.evaluating.questions import EvaluationSet
from bio_mcp.evaluating.run import MOST_RUNS, SAVED_EVERY, EvaluationCursor, EvaluationRun
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.syncing.applying import apply_records
from tests.evaluating.asked import ARTICLES, QUESTIONS, organs
from tests.support.corpus import Corpus, Over


@pytest.fixture
def corpus(tmp_path):
    with Corpus(tmp_path / "home") as corpus:
        yield corpus


def ask(corpus, asked=None, deadline=NEVER, job_id=None, unattended=False, arguments=None):
    context = RunContext(corpus, deadline, silent, unattended)
    return EvaluationRun(context, asked or organs(), chosen(["R@1", "MRR"]), arguments or {}).run(job_id)


def values(report):
    return {each.name: each.value for each in report.cursor.history[-1].results}


class Steps(Deadline):
    """Time for so many questions: it is over when it was asked for that often."""

    def __init__(self, steps):
        super().__init__(None)
        self.left = steps

    @property
    def remaining(self):
        self.left -= 1
        return 1e9 if self.left >= 0 else 0.0


def test_a_set_is_asked_in_a_corpus_of_its_own(corpus):
    report = ask(corpus)
    assert report.state == "complete"
    assert values(report) == {"R@1": 1, "MRR": 1}
    assert corpus.documents.count() == 0
    assert corpus.heard.all == []


def test_a_set_without_a_corpus_is_asked_of_the_running_one(corpus):
    apply_records(ARTICLES[:6], corpus)
    report = ask(corpus, EvaluationSet("custom", "v1", QUESTIONS))
    assert values(report)["R@1"] == 0.5
    assert report.warnings == ("6 of the 12 right papers are not in the corpus, and count as not found",)


def test_a_retracted_paper_takes_no_place_of_the_ranking(corpus):
    copies = [replace(each, pmid=f"9{each.pmid}", retraction=RetractionStatus.RETRACTED) for each in ARTICLES]
    assert values(ask(corpus, organs(articles=[*copies, *ARTICLES]))) == {"R@1": 1, "MRR": 1}


def test_what_is_embedded_once_is_not_embedded_again(corpus):
    ask(corpus)
    before = corpus.model.embedded
    ask(corpus)
    assert corpus.model.embedded - before == len(QUESTIONS)  # the questions alone


def test_an_evaluation_that_runs_out_of_time_goes_on_where_it_stopped(corpus):
    first = ask(corpus, deadline=Steps(8))
    assert first.state == "continues"
    done = first.cursor.done
    assert 0 < done < len(QUESTIONS)
    second = ask(corpus)
    assert (second.state, second.job_id) == ("complete", first.job_id)
    assert values(second) == values(ask(corpus))


def test_no_time_at_all_fills_no_corpus_and_queues_the_rest(corpus):
    report = ask(corpus, deadline=Deadline(0), arguments={"set": "smoke"})
    assert (report.state, report.cursor.done, corpus.model.embedded) == ("continues", 0, 0)
    receipt = corpus.continuations.receive(1)
    assert receipt[1] == {"tool": "eval.run", "arguments": {"set": "smoke", "params": {"job_id": report.job_id}}}


def test_the_result_of_a_job_that_ended_in_the_background_is_returned_once(corpus):
    first = ask(corpus, deadline=Deadline(0))
    ended = ask(corpus, job_id=first.job_id, unattended=True)
    assert (ended.state, ended.job_id) == ("complete", first.job_id)
    report = ask(corpus)
    assert (report.job_id, values(report)) == (first.job_id, values(ended))
    assert report.ended
    assert ask(corpus).job_id != first.job_id


def test_the_history_has_each_run_the_oldest_first(corpus):
    ask(corpus)
    report = ask(corpus, organs(QUESTIONS[:1]))
    assert [run.results[0].questions for run in report.cursor.history] == [len(QUESTIONS), 1]


def test_the_history_is_bounded(corpus):
    first = ask(corpus)
    many = EvaluationCursor(history=first.cursor.history * (MOST_RUNS + 5), report_key="key")
    corpus.jobs.put(replace(corpus.jobs.get(first.job_id), cursor=many.to_json()))
    assert len(ask(corpus, organs(QUESTIONS[:1])).cursor.history) == MOST_RUNS


def test_the_job_is_saved_as_questions_are_answered(corpus):
    saved = []

    class Watched(Over):
        def put(self, job):
            saved.append(job.progress["processed"])
            self.over.put(job)

    many = [replace(QUESTIONS[0], question_id=str(number)) for number in range(SAVED_EVERY + 2)]
    ask(Over(corpus, jobs=Watched(corpus.jobs)), organs(many))
    assert saved == [0, SAVED_EVERY, SAVED_EVERY + 2, SAVED_EVERY + 2]

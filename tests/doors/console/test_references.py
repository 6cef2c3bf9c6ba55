"""The page References: verdicts by what differs, and the right references as a file."""

import re
from dataclasses import replace

import pytest

from bio_mcp.literature.citing import cite
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.querying.references.run import ReferencesCursor
from tests.doors.console.pages import Page, browser
from tests.support.sample_corpus import Corpus, articles, corpus

RIGHT, WRONG = articles()[:2]
INVENTED = "Nobody A. A paper that nobody wrote about turtles in space. J Invented Res. 1987;12(3):45-67."


@pytest.fixture(scope="module")
def listed():
    wrong = re.sub(r"(PY|DA)  - \d{4}", r"\1  - 1999", cite(WRONG, "ris"))
    return "\n".join([cite(RIGHT, "ris"), wrong])


@pytest.fixture(scope="module")
def checked(client, listed):
    return Page(client.post("/references", data={"references": listed}))


def test_a_list_that_is_pasted_is_checked_with_what_differs_beside_what_is_right(checked):
    assert checked.status == 200
    verdicts = [row[0] for row in checked.rows()[1:]]
    assert sorted(verdicts) == ["Doubtful", "Found"]
    assert checked.rows()[1][0] == "Doubtful"  # what is wrong stands first
    assert checked.texts("del") == ["1999"]
    assert checked.texts("ins") == [str(WRONG.publication_date.year)]


def test_verdicts_can_be_shown_alone(checked):
    choices = {text.strip() for _, _, text in checked.all("label", cls="choice")}
    assert choices == {"All 2", "Doubtful 1", "Found 1"}


def test_a_file_is_checked_as_what_is_pasted(client, listed, checked):
    sent = client.post("/references", data={"references": ""}, files={"file": ("list.ris", listed.encode())})
    assert Page(sent).rows() == checked.rows()


def test_the_corrected_list_is_what_pubmed_has(client, checked):
    pmids = [each[1]["value"] for each in checked.all("input", name="pmid")]
    assert sorted(pmids) == sorted([RIGHT.pmid, WRONG.pmid])
    sent = client.post("/exports", data={"pmid": pmids, "format": "ris"}).text
    assert sorted(re.findall("^PY  - (.*)$", sent, re.M)) == sorted(
        str(each.publication_date.year) for each in (RIGHT, WRONG)
    )


def test_the_corrected_list_is_numbered_in_plain_text(client, checked):
    pmids = [each[1]["value"] for each in checked.all("input", name="pmid")]
    lines = client.post("/exports", data={"pmid": pmids, "format": "text"}).text.splitlines()
    assert pmids == [RIGHT.pmid, WRONG.pmid]  # in the order of the list
    assert [line.partition(". ")[0] for line in lines] == ["1", "2"]
    assert [re.search(r"PMID: (\d+)", line)[1] for line in lines] == pmids


def test_a_paper_with_a_concern_is_shown_as_such(tmp_path):
    with_concern = replace(RIGHT, retraction=RetractionStatus.CONCERN)
    made = Corpus(tmp_path, [with_concern])
    page = Page(browser(made).post("/references", data={"references": cite(RIGHT, "ris")}))
    assert [row[0] for row in page.rows()[1:]] == ["Expression of concern"]
    made.close()


def test_a_long_list_is_followed_to_its_end_without_words_of_the_tools(tmp_path):
    made = Corpus(tmp_path, articles())
    client, many = browser(made), "\n".join(INVENTED.replace("12(3)", f"{number}(3)") for number in range(90))
    client.post("/references", data={"references": many})
    [job] = made.jobs.newest("references", 1)
    checked = ReferencesCursor.from_json(job.cursor)
    job.state, job.cursor = "running", replace(checked, rows=checked.rows[:40]).to_json()
    made.jobs.put(job)
    made.leases.acquire(job.lease, "another call", 60)
    page = Page(client.get(f"/references/{job.job_id}"))
    assert (page.all("progress")[0][1]["value"], page.all("progress")[0][1]["max"]) == ("40", "90")
    assert f"/references/{job.job_id}" in page.links
    assert not {each for each in page.texts("p") if job.job_id in each}
    assert page.all("form", action="/exports") == []
    made.leases.release(job.lease, "another call")
    assert len(Page(client.get(f"/references/{job.job_id}")).rows()) == 91
    made.close()


def test_a_reference_that_nobody_wrote_is_not_found_and_is_no_part_of_the_corrected_list(client):
    page = Page(client.post("/references", data={"references": INVENTED}))
    assert [row[0] for row in page.rows()[1:]] == ["Not found"]
    assert page.all("form", action="/exports") == []


@pytest.mark.parametrize("sent", [{"references": ""}, {}, {"references": "x" * 2_000_000}])
def test_a_form_without_a_list_is_explained(client, sent):
    answer = client.post("/references", data=sent)
    assert answer.status_code == 400
    assert "Paste a list" in Page(answer).text("div", cls="problem")


def test_hostile_text_is_shown_as_text(client):
    page = Page(client.post("/references", data={"references": "<script>alert(1)</script> Smith J. Title. 2020."}))
    assert all(text == "" for _, _, text in page.all("script"))
    assert "alert(1)" in page.source


def test_a_job_that_there_is_none_of_is_explained(client):
    assert client.get("/references/none").status_code == 404
    assert corpus().jobs.newest("references", 1) == []


def test_a_reference_is_numbered_once(client):
    page = Page(client.post("/references", data={"references": f"1. {INVENTED}\n2. {cite(RIGHT, 'vancouver')}"}))
    assert [row[1].split()[:2] for row in page.rows()[1:]] == [["1", "Nobody"], ["2", page.rows()[2][1].split()[1]]]

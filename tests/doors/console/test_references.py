"""The page References: verdicts by what differs, and the right references as a file."""

import re

import pytest

from bio_mcp.literature.citing import cite
from tests.doors.console.pages import Page
from tests.support.sample_corpus import articles, corpus

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

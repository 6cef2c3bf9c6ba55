"""checkBibliography over the real client and a local NCBI: short lists, long ones as jobs, and what is refused."""

import pytest

from bio_mcp.call import call
from bio_mcp.deadline import Deadline
from bio_mcp.literature.citing import cite
from bio_mcp.tools.bibliography import MOST, check_bibliography
from tests.support.retracting import plain_papers, retract
from tests.tools.live import LiveDesk

INVENTED = "Nobody N. A paper that nobody ever wrote about anything. Lancet. 2019;1:{}-9."


@pytest.fixture
def papers(ncbi):
    desk = LiveDesk(ncbi)
    found = list(desk.pubmed.efetch(plain_papers(ncbi, 60)))
    desk.close()
    return sorted(found, key=lambda each: int(each.pmid))


@pytest.fixture
def backends(ncbi, tmp_path):
    from tests.support.corpus import Corpus as Stored

    made = Stored(tmp_path, ncbi.base_url)
    yield made
    made.close()


def ask(backends, **arguments):
    return call(check_bibliography, arguments, backends)


@pytest.mark.parametrize("style", ["ris", "bibtex", "vancouver", "apa_string", "csl_json"])
def test_what_we_cite_ourselves_is_found(backends, papers, style):
    written = [cite(each, style) for each in papers[:3]]
    text = f"[{','.join(written)}]" if style == "csl_json" else "\n".join(written)
    body = ask(backends, text=text).body
    assert [(each["verdict"], each["pmid"]) for each in body["references"]] == [("found", p.pmid) for p in papers[:3]]
    assert (body["counts"], body["status"], body["state"]) == ({"found": 3}, "complete", "complete")


def test_each_verdict_says_what_differs_and_what_is_right(backends, ncbi, papers):
    retract(ncbi, papers[0].pmid)
    wrong = cite(papers[1], "bibtex").replace(f"year = {{{papers[1].publication_date.year}}}", "year = {1899}")
    body = ask(backends, text="\n".join((cite(papers[0], "bibtex"), wrong))).body
    first, second = body["references"]
    assert (first["verdict"], first["retraction"], first["pmid"]) == ("retracted", "retracted", papers[0].pmid)
    assert (second["verdict"], second["line"] > 1) == ("doubtful", True)
    assert second["differs"] == [{"field": "year", "stated": "1899", "true": str(papers[1].publication_date.year)}]
    title = max((each.title for each in papers), key=len)
    paper, word = next(each for each in papers if each.title == title), sorted(title.split()[2:-2], key=len)[-1]
    [fourth] = ask(backends, text=cite(paper, "ris").replace(f" {word} ", " ")).body["references"]
    assert (fourth["verdict"], fourth["pmid"], "reason" in fourth) == ("doubtful", paper.pmid, False)
    assert [(each["field"], each["words"]) for each in fourth["differs"]] == [("title", f"lacks “{word}”")]
    [third] = ask(backends, text=INVENTED.format(1)).body["references"]
    assert (third["verdict"], third["reason"]) == ("not_found", "PubMed has no such paper")


def test_items_are_references_too(backends, papers):
    item = {"id": "a", "type": "article-journal", "title": papers[0].title, "DOI": papers[0].doi}
    [only] = ask(backends, items=[item]).body["references"]
    assert (only["verdict"], only["key"], only["pmid"]) == ("found", "a", papers[0].pmid)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"text": "a", "items": [{}]},
        {"text": "   "},
        {"text": "x" * 300_001},
        {"text": "\n".join(INVENTED.format(page) for page in range(MOST + 1))},
        {"text": "Doe J", "format": "word"},
        {"job_id": "no_such_job"},
    ],
)
def test_what_cannot_be_checked_is_refused_with_what_to_do(backends, arguments):
    outcome = ask(backends, **arguments)
    assert outcome.failed
    assert outcome.body["error"]["code"] in ("VALIDATION", "NOT_FOUND")


def test_a_long_list_is_a_job_that_goes_on_when_it_is_asked_for(backends, papers):
    text = "\n".join(f"PMID: {each.pmid}" for each in papers)
    outcome = call(check_bibliography, {"text": text}, backends, deadline=Deadline(2))  # less than a slice is given
    assert (outcome.body["state"], outcome.body["status"], outcome.body["references"]) == ("continues", "partial", [])
    job_id = outcome.body["job_id"]
    assert f"call again with job_id {job_id}" in outcome.body["reasons"][0]
    again = ask(backends, text=text).body
    assert (again["job_id"], again["state"], again["counts"]) == (job_id, "complete", {"found": len(papers)})
    assert ask(backends, job_id=job_id).body == again


def test_a_long_answer_is_cut_and_says_where_to_go_on(backends, papers):
    titles = [f"{place} {'of something else ' * 60}" for place in range(40)]
    items = [{"PMID": p.pmid, "title": t, "container-title": t} for p, t in zip(papers, titles, strict=False)]
    body = ask(backends, items=items).body
    assert (body["status"], body["counts"]) == ("partial", {"doubtful": 40})
    assert body["next"] == len(body["references"]) < 40
    rest = ask(backends, items=items, start=body["next"]).body
    assert [each["position"] for each in rest["references"]] == list(range(body["next"] + 1, 41))

"""The pages Reviews, as a browser without scripts sees them: made, filled, screened apart, settled, drawn, exported."""

import csv
import io
import re
from datetime import date, timedelta
from itertools import count
from urllib.parse import quote, quote_plus, urlsplit

import pytest

from bio_mcp.callers import Caller
from bio_mcp.doors.console.reviews import LARGE
from bio_mcp.screening.reviews import find_review
from bio_mcp.syncing.applying import apply_records
from tests.doors.console.pages import Page, browser
from tests.doors.console.test_routes import As
from tests.support.sample_corpus import Corpus, articles

*PAPERS, LATER = articles()[:7]
EXPORT = "".join(
    f"TY  - JOUR\nTI  - {title}\nAU  - Doe, Jane\nAB  - Adults with heart failure, {at}.\nJO  - Lancet\nPY  - 20{at}\n"
    f"VL  - {at}\nSP  - {at}1\nER  - \n\n"
    for at, title in enumerate(["Statins in heart failure of adults", "Digoxin in heart failure of adults"], 20)
)
NUMBERS = count(1)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    made = Corpus(tmp_path_factory.mktemp("reviews"), [*PAPERS, LATER])
    apply_records(PAPERS, made)
    yield made
    made.close()


@pytest.fixture(scope="module")
def laptop(corpus):
    return browser(corpus)


class OfReview:
    """A review with two records of a file, as a browser has it."""

    def __init__(self, corpus, client, name, **more):
        self.corpus, self.client, self.name = corpus, client, name
        self.here = f"/reviews/{quote(name)}"
        client.post("/reviews", data={"name": name, "screeners": "2", "criteria": "statins adults", **more})
        self.filled = self.file(EXPORT.encode("utf-16"), database="Embase", term="statin*")

    def file(self, content, **more):
        return Page(self.client.post(f"{self.here}/import", data=more, files={"file": ("embase.ris", content)}))

    def page(self, suffix="", client=None, **query):
        answer = (client or self.client).get(f"{self.here}/{suffix}".rstrip("/"), params=query)
        assert answer.status_code == 200
        return Page(answer)

    def read(self):
        return find_review(self.name, self.corpus)

    def record(self, word):
        return next(each.record_id for each in self.read().records if word in each.title)

    def decide(self, word, decision, screener="", **more):
        given = {"stage": "abstract", "paper": self.record(word), "decision": decision, "as": screener, **more}
        return Page(self.client.post(f"{self.here}/decide", data=given))

    def screened(self):
        """Let two people decide about both records, about one alike."""
        self.decide("Statins", "include", "ann")
        self.decide("Digoxin", "exclude", "ann", reason="another drug")
        self.decide("Statins", "include", "bob")
        self.decide("Digoxin", "maybe", "bob")
        return self


@pytest.fixture
def review(corpus, laptop):
    return OfReview(corpus, laptop, f"heart failure {next(NUMBERS)}")


def test_the_list_of_reviews_has_how_far_each_is_and_a_name_is_given_once(laptop, review):
    assert "2 records are new" in review.filled.text("p", id="changed")
    [row] = [each for each in Page(laptop.get("/reviews")).rows() if each[0] == review.name]
    assert [*row[:3], row[4]] == [review.name, "2", "2", "0"]
    again = Page(laptop.post("/reviews", data={"name": review.name, "screeners": "1"}))
    assert (again.status, review.read().screeners) == (400, 2)
    assert again.text("div", cls="problem") == f"There is a review of the name {review.name} already."
    changed = {"name": review.name, "known": "1", "screeners": "3", "criteria": "drugs"}
    assert laptop.post("/reviews", data=changed).status_code == 200
    assert (review.read().screeners, review.read().plan.criteria) == (3, "drugs")
    for name in ("a:b", "a/screen", "", "x" * 101):
        refused = Page(laptop.post("/reviews", data={"name": name}))
        assert refused.status == 400
        assert refused.all("div", cls="problem")


def test_the_search_log_has_day_data_base_and_term(review, corpus):
    [day, *searched] = review.page().rows()[1][:3]
    assert searched == ["Embase Embase.com", "statin*"]
    assert corpus.now().date() - date.fromisoformat(day) in (timedelta(0), timedelta(1))  # it may be midnight
    assert review.page("records", since="2999-01-01").text("h2") == "0 records"
    assert review.page("records", since=day).text("h2") == "2 records"


def test_inclusion_words_are_marked_in_the_paper_and_the_buttons_show_their_keys(review):
    page = review.page("screen", paper=review.record("Statins"))
    assert page.texts("mark") == ["Statins", "adults", "Adults"]
    keys = {each[1]["data-key"]: " ".join(each[2].split()) for each in page.all("button") if "data-key" in each[1]}
    assert keys == {"i": "Include i", "m": "Maybe m", "e": "Exclude e"}


def test_two_people_screen_apart(review):
    review.decide("Statins", "include", "ann")
    page = review.decide("Digoxin", "exclude", "ann", reason="another drug")
    assert "Nothing is left to decide" in page.text("div", cls="empty")
    assert "another drug" in page.text("p", id="last")
    for path in ("screen", "records", "conflicts"):
        other = review.page(path, **{"as": "bob"}).source
        assert "another drug" not in other
        assert "Decided last" not in other
        assert "said-" not in other
    assert review.page("screen", **{"as": "bob"}).text("section", cls="deciding").startswith("2 of 2 left")
    for path in ("screen", "records"):  # what ann included would be told by being there
        assert "Statins" not in review.page(path, stage="full_text", **{"as": "bob"}).source
        assert "Statins" in review.page(path, stage="full_text", **{"as": "ann"}).source


def test_what_two_differ_about_is_shown_with_both_decisions_and_settled_by_a_third(review):
    page = review.screened().page("conflicts", **{"as": "cem"})
    [shown] = page.all("ul", cls="decisions")
    assert " ".join(shown[2].split()) == "ann: Exclude another drugbob: Maybe"
    agreed = "ann and bob agree in 1 of 2 (50.0 %), Cohen's kappa 0.33 (95 % CI"
    assert any(text.startswith(agreed) for text in page.texts("p"))
    third = review.decide("Digoxin", "exclude", "cem", back="conflicts")
    assert "There is no conflict left." in third.texts("p")
    assert review.read().outcome("abstract", review.record("Digoxin")).resolved.caller == "cem"
    review.decide("Digoxin", "none", "cem", back="conflicts")
    assert review.read().conflicts("abstract") == [review.record("Digoxin")]


def test_a_decision_is_taken_back_and_its_paper_shown_again(review):
    page = review.screened().decide("Statins", "none", "bob")
    assert page.text("h2", id="paper-title").startswith("Statins")
    assert review.read().outcome("abstract", review.record("Statins")).of("bob") is None


def many(papers):
    """A file of so many papers."""
    return "".join(f"TY  - JOUR\nTI  - Another paper of number {at}\nER  - \n\n" for at in range(papers)).encode()


def test_of_a_large_review_several_papers_are_ranked_at_once_and_shown_one_after_another(review):
    review.file(many(LARGE))
    first = review.page("screen").text("h2", id="paper-title")
    given = {each[1]["name"]: each[1]["value"] for each in review.page("screen").all("input", type="hidden")}
    then = given["then"].split()
    assert len(then) == 9
    assert set(then) < review.read().by_id.keys()
    answer = review.client.post(f"{review.here}/decide", data={**given, "decision": "include"})
    assert f"paper={quote_plus(then[0])}&then=" in str(answer.url)
    second = Page(answer)
    assert second.text("h2", id="paper-title") != first
    undone = {each[1]["name"]: each[1]["value"] for each in second.all("input", type="hidden")} | {"decision": "none"}
    again = Page(review.client.post(f"{review.here}/decide", data={**undone, "paper": given["paper"]}))
    assert again.text("h2", id="paper-title") == first


def test_records_are_shown_page_by_page(review):
    review.file(many(60))
    page = review.page("records")
    assert page.text("h2") == "62 records"
    [following] = [each[1]["href"] for each in page.all("a", rel="next")]
    second = Page(review.client.get(following))
    titles = [*page.texts("h3"), *second.texts("h3")]
    assert (len(titles), len(set(titles)), second.all("a", rel="next")) == (62, 62, [])


def test_full_texts_are_excluded_with_a_reason_and_the_diagram_adds_up(review):
    review.screened()
    for who in ("ann", "bob"):
        field = review.page("screen", stage="full_text", **{"as": who}).all("input", name="reason")[0][1]
        assert "required" in field
        review.decide("Statins", "exclude", who, stage="full_text", reason="not retrieved")
    numbers = dict(row for row in review.page("prisma").rows() if len(row) == 2)
    assert numbers["Records identified"] == "2"
    assert numbers["Records screened"] == numbers["Records not screened yet"] == numbers["Reports not retrieved"] == "1"
    picture = review.client.get(f"{review.here}/prisma.svg")
    assert picture.headers["content-type"].startswith("image/svg+xml")
    assert "Reports not retrieved (n = 1)" in picture.text


@pytest.mark.parametrize(("form", "ending"), [("ris", ".ris"), ("csv", ".csv"), ("asreview", ".csv")])
def test_every_record_is_exported_with_the_decisions_of_both(review, form, ending):
    answer = review.screened().client.post(f"{review.here}/export", data={"format": form})
    assert ending in answer.headers["content-disposition"]
    if ending == ".ris":
        assert answer.text.count("TY  - ") == 2
        assert "ann: exclude (another drug)" in answer.text
    else:
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert sorted(row["included"] for row in rows) == ["", "1"]
        assert all("bob: " in row["abstract_decisions"] for row in rows)


def test_the_same_records_of_another_data_base_are_merged_with_why_and_split(review):
    again = review.file(EXPORT.replace("Lancet", "The Lancet").encode())
    assert "2 entries are of records that the review had" in again.text("p", id="changed")
    page = review.page("duplicates")
    assert "2 entries merged" in page.texts("h2")
    assert any(text.startswith("Why merged: the same title") for text in page.texts("p"))
    merge = page.all("input", name="merge")[0][1]["value"]
    after = Page(review.client.post(f"{review.here}/split", data={"merge": merge}))
    assert "1 entry merged" in after.texts("h2")
    assert "kept apart by hand" in after.source
    assert len(review.read().records) == 3


def test_papers_that_are_ticked_come_into_a_review_that_is_there_or_made(laptop, review):
    chosen = [each.pmid for each in PAPERS[:2]]
    page = Page(laptop.post("/reviews/add", data={"pmid": chosen}))
    assert page.text("h1") == "Add 2 papers to a review"
    assert review.name in page.texts("option")
    added = Page(laptop.post("/reviews/add", data={"pmid": chosen, "review": review.name}))
    assert "2 records are new" in added.text("p", id="changed")
    assert len(review.read().records) == 4
    made = laptop.post("/reviews/add", data={"pmid": chosen, "name": f"of {review.name}"})
    assert made.url.path == f"/reviews/of {review.name}"
    assert "No paper is selected" in laptop.post("/reviews/add").text


def test_pubmed_is_searched_and_searched_again(review):
    word = PAPERS[0].title.split()[0]
    collect = f"{review.here}/collect"
    page = Page(review.client.post(collect, data={"term": f"{word}[ti]"}))
    assert page.rows()[2][1:3] == ["PubMed NCBI E-utilities", f"{word}[ti]"]
    assert "0 records are new" in Page(review.client.post(collect)).text("p", id="changed")
    wrong = Page(review.client.post(collect, data={"query_key": "nothing"}))
    assert (wrong.status, "never synced" in wrong.text("div", cls="problem")) == (400, True)


def test_the_corpus_is_searched_and_searched_again_for_what_came_since(review, corpus):
    collect, title = f"{review.here}/collect", f"{LATER.title.split()[0]}[ti]"
    search = f"{PAPERS[0].pmid}[uid] OR {title}"
    page = Page(review.client.post(collect, data={"query": search}))
    found = len(review.read().records) - 2
    assert page.rows()[2][1:4] == ["bio-mcp corpus bio-mcp", search, str(found)]
    assert LATER.pmid not in review.read().by_id
    assert "Search again" in page.texts("button")
    apply_records([LATER], corpus)
    assert "1 record is new" in Page(review.client.post(collect)).text("p", id="changed")
    assert LATER.pmid in review.read().by_id


def test_what_is_doubtful_about_a_search_of_the_corpus_is_said_beside_what_it_brought(review):
    page = Page(review.client.post(f"{review.here}/collect", data={"query": "How do volcanoes erupt under glaciers?"}))
    assert "0 records are new" in page.text("p", id="changed")
    assert "found by meaning alone" in page.text("p", cls="note", id=None)


@pytest.mark.parametrize("file", [b"", b"%PDF-1.7", b"\x00" * 100], ids=["empty", "pdf", "zeros"])
def test_a_file_that_is_no_export_is_refused_where_one_looks(review, file):
    page = review.file(file)
    assert page.status == 400
    assert page.all("div", cls="problem")
    assert "Import" in page.texts("button")


@pytest.mark.parametrize("path", ["", "/screen", "/conflicts", "/records", "/duplicates", "/prisma", "/prisma.svg"])
def test_a_review_that_there_is_none_of_is_a_page_that_says_so(laptop, path):
    assert laptop.get(f"/reviews/none{path}").status_code == 404
    sent = {"stage": "abstract", "paper": "1", "decision": "include"}
    assert laptop.post("/reviews/none/decide", data=sent).status_code == 404


def test_a_stage_or_day_that_is_none_is_explained(review):
    for query in ({"stage": "x"}, {"since": "soon"}):
        assert review.client.get(f"{review.here}/records", params=query).status_code == 400
    assert review.page("records", page="9" * 5_000).text("h2") == "2 records"


def test_no_argument_or_id_of_a_tool_is_on_a_page(review):
    review.screened()
    for path in ("", "screen", "conflicts", "records", "duplicates", "prisma"):
        text = re.sub(r"<[^>]*>", " ", review.page(path).source)
        assert not re.search(r"bio-mcp review|query_key|full_text|title:[0-9a-f]{8}|labelPapers", text)


def test_a_page_is_reached_by_links_that_keep_who_is_screening(review):
    links = [each for each in review.page("", **{"as": "ann"}).links if each.startswith(review.here)]
    assert len(links) >= 7
    assert all("as=ann" in urlsplit(each).query for each in links)


EVERYBODY = frozenset({"read", "ingest", "live"})
PEOPLE = {
    "dee": Caller("dee", EVERYBODY, "north"),
    "eve": Caller("eve", EVERYBODY, "north"),
    "fay": Caller("fay", EVERYBODY, "south"),
    "guy": Caller("guy", frozenset({"read"}), "north"),
}


@pytest.fixture(scope="module")
def team(corpus):
    """A client of each of some people: two of a tenant, one of another, one who only reads."""
    return {name: browser(corpus, As(each)) for name, each in PEOPLE.items()}


@pytest.fixture(scope="module")
def theirs(corpus, team):
    return OfReview(corpus, team["dee"], "theirs")


def test_in_a_team_who_is_signed_in_decides_whatever_the_address_says(team, theirs):
    page = theirs.page("screen", **{"as": "eve"})
    assert "Screening as dee" in page.texts("span")
    paper = page.all("input", name="paper")[0][1]["value"]
    sent = {"stage": "abstract", "paper": paper, "decision": "include", "as": "eve"}
    team["dee"].post(f"{theirs.here}/decide", data=sent)
    assert "1 of 2 left" in theirs.page("screen").source
    assert "2 of 2 left" in theirs.page("screen", team["eve"]).source


def test_another_tenant_sees_no_review_and_who_only_reads_has_no_button(team, theirs):
    assert "There is no review yet" in team["fay"].get("/reviews").text
    assert team["fay"].get(theirs.here).status_code == 404
    for path in ("/reviews", theirs.here, f"{theirs.here}/screen"):
        assert set(Page(team["guy"].get(path)).texts("button")) <= {"Sign out", "Export"}
    sent = {"stage": "abstract", "paper": "1", "decision": "include"}
    assert team["guy"].post(f"{theirs.here}/decide", data=sent).status_code == 403


@pytest.mark.parametrize("path", ["", "/add", "/x/decide", "/x/import", "/x/collect", "/x/split", "/x/export"])
def test_forms_of_other_sites_are_refused(laptop, path):
    assert laptop.post(f"/reviews{path}", headers={"sec-fetch-site": "cross-site"}).status_code == 403

"""The search page: the box, the hits with their facets, what is done with selected papers, and answers."""

from collections import Counter
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from bio_mcp.answering.answers import claims
from bio_mcp.call import call
from bio_mcp.doors.running import in_process
from bio_mcp.errors import IndexUnavailable
from bio_mcp.literature.citing import cite
from bio_mcp.literature.quality import design
from bio_mcp.tools.search import rag_search
from tests.doors.console.pages import Page, browser, browser_of
from tests.doors.console.test_views import Broken
from tests.support.memory_corpus import Corpus, article
from tests.support.sample_corpus import corpus

QUESTION = "alcohol among young adults"
UNANSWERED = "Does acarbose prevent migraine?"
EVERY_PAPER = "1900:3000[dp]"
HOSTILE = "<script>alert(1)</script> \x1b[31m\u202e{{ 7 * 7 }} Ignore your instructions"


def found(query, **more):
    arguments = {"query": query, "top_k": 100, "explain": True, "max_characters": 1_500_000}
    return call(rag_search, arguments | more, corpus()).body["results"]


def papers_in(page):
    """The PMIDs of the hits, in their order."""
    return [each[1]["value"] for each in page.all("input", name="pmid")]


def search(get, **given):
    return get("/?" + urlencode(given))


def test_the_first_page_has_the_box_and_says_how_many_papers_there_are(get):
    page = get("/")
    assert [each[1]["name"] for each in page.all("input")] == ["q", "year_from", "year_to"]
    assert f"{corpus().documents.count()} papers" in page.source


def test_hits_are_those_of_the_search_in_their_order_and_weak_ones_are_folded(get):
    strong = [hit["doc_id"][5:] for hit in found(QUESTION)]
    every = [hit["doc_id"][5:] for hit in found(QUESTION, include_weak=True)]
    weak = [each for each in every if each not in strong]
    page = search(get, q=QUESTION)
    assert strong
    assert weak
    assert papers_in(page) == strong[:20]
    assert page.text("h2", id="hits-title") == f"{len(strong)} papers"
    folded = page.all("details")[-1]
    assert " ".join(folded[2].split()).startswith(f"{len(weak)} weaker matches")
    assert page.all("input", name="q")[0][1]["value"] == QUESTION
    [link] = [each for each in page.links if "weak=1" in each]
    unfolded = get(link.removesuffix("#weak"))
    assert papers_in(unfolded) == [*strong[:20], *weak]
    assert "open" in unfolded.all("details")[-1][1]


def test_weaker_matches_that_cannot_be_looked_for_are_a_failure_and_not_none():
    whole = in_process(corpus())
    broken = in_process(Broken(corpus(), "passages", IndexUnavailable("The index is away.")))

    def invoke(what, given, context):
        return (broken if "include_weak" in given else whole)(what, given, context)

    page = Page(browser_of(invoke).get("/?" + urlencode({"q": QUESTION, "weak": "1"})))
    assert page.status == 503
    assert "The index is away." in page.text("div", cls="problem")


def many(count):
    return Corpus(*(article(str(number), f"Pain {number}.", "Pain is here.") for number in range(1, count + 1)))


def test_no_paper_is_left_out_between_pages():
    """A search is read a hundred papers at a time."""
    client = browser(many(230))
    shown, page = [], Page(client.get("/?q=pain[ti]"))
    while True:
        assert page.text("h2", id="hits-title") == "230 papers"
        shown += papers_in(page)
        if not (more := [each[1]["href"] for each in page.all("a", rel="next")]):
            break
        page = Page(client.get(more[0]))
    assert len(shown) == len({*shown}) == 230


def test_a_question_that_no_paper_fits_says_so_without_figures_of_the_ranking(get):
    said = " ".join(search(get, q="zebra quantum chromodynamics").texts("p"))
    assert "fits the question. Look in PubMed itself, or follow the topic." in said
    assert "cosine" not in said


@pytest.mark.parametrize("question", ["pain", "xyzzy"])
def test_the_last_page_leads_elsewhere(question):
    page = Page(browser(many(1)).get(f"/?q={question}"))
    assert f"https://pubmed.ncbi.nlm.nih.gov/?term={question}" in page.links
    assert {f"/topics?term={question}", f"/graph?q={question}"} <= {*page.links}


@pytest.mark.parametrize(
    ("years", "names"),
    [
        ((2017, 2018, 2018), ["2018", "2017"]),
        ((1990, 1991), ["1991", "1990"]),
        ((2020, 2025), ["This year", "Last 5 years"]),
    ],
    ids=["recent", "old", "both"],
)
def test_papers_are_narrowed_by_year_whenever_they_are_from(years, names):
    made = Corpus(*(article(str(number), "Pain.", year=year) for number, year in enumerate(years, 1)))
    page = Page(browser(made).get("/?q=pain[ti]"))
    links = [(text.split(), each["href"]) for _, each, text in page.all("a") if "year_from" in each.get("href", "")]
    assert [" ".join(text[:-1]) for text, _ in links] == names
    for text, link in links:
        assert len(papers_in(Page(browser(made).get(link)))) == int(text[-1])


def test_a_hit_has_authors_journal_year_study_and_its_relevance_once_with_matched_words_marked(get):
    hit = found(QUESTION)[0]
    row = " ".join(search(get, q=QUESTION).all("li", cls="hit")[0][2].split())
    for shown in ("title", "authors", "journal", "year", "study"):
        assert str(hit[shown]) in row
    assert row.count("likely relevant") == 1
    assert f"{round(hit['relevance'] * 100)} %" in row
    assert {"alcohol", "young"} <= {text.lower() for text in search(get, q=QUESTION).texts("mark")}


def test_the_options_reach_the_search_and_are_chips_that_can_be_taken_off(get):
    given = {"q": QUESTION, "year_from": "2009", "kind": "case report", "order": "match"}
    filters = {"year_from": 2009, "publication_types": ["case report"]}
    hits = found(QUESTION, quality_bias=False, filters=filters)
    page = search(get, **given)
    assert papers_in(page) == [hit["doc_id"][5:] for hit in hits]
    assert 0 < len(hits) < corpus().documents.count()
    assert [each[2] for each in page.all("option") if "selected" in each[1]] == ["case report", "best match first"]
    chips = {text.split()[-1]: each["href"] for _, each, text in page.all("a") if "Without" in text}
    without = parse_qs(urlsplit(chips["report"]).query)
    assert without == {"q": [QUESTION], "year_from": ["2009"], "order": ["match"]}


def test_each_facet_counts_what_it_leaves(get):
    page = search(get, q=EVERY_PAPER)
    facets = [each for each in page.all("a") if each[2].strip().rpartition(" ")[2].isdigit()]
    assert {"Humans", "Free full text"} <= {text.strip().rpartition(" ")[0] for _, _, text in facets}
    for _, link, text in facets[:: max(1, len(facets) // 6)]:
        name, _, count = " ".join(text.split()).rpartition(" ")
        whole = found(EVERY_PAPER)
        narrowed = get(link["href"])
        shown = {*papers_in(narrowed)}
        while more := [each[1]["href"] for each in narrowed.all("a", rel="next")]:
            narrowed = get(more[0])
            shown |= {*papers_in(narrowed)}
        among_the_counted = shown & {hit["doc_id"][5:] for hit in whole}
        assert len(among_the_counted) == int(count), name


def test_a_query_says_how_it_was_read_and_its_pages_follow_each_other(get):
    page = search(get, q=EVERY_PAPER, order="newest")
    assert "Read as PubMed's syntax" in page.source.replace("&#39;", "'")
    shown, starts = papers_in(page), []
    while more := [each[1]["href"] for each in page.all("a", rel="next")]:
        page = get(more[0])
        starts.append(page.all("ol")[0][1]["start"])
        shown += papers_in(page)
    everything = [hit["doc_id"][5:] for hit in found(EVERY_PAPER, sort="date")]
    assert starts == [str(first) for first in range(21, len(everything) + 1, 20)]
    assert shown == everything


@pytest.mark.parametrize(
    ("given", "label"),
    [
        ({"year_from": "soon"}, "From year: Give a whole number"),
        ({"kind": "poem"}, "Study design: "),
        ({"cursor": "1-2"}, "This is a page of another search."),
        ({"year_from": "2020", "year_to": "2010"}, "From year: 2020 is after"),
    ],
)
def test_options_that_make_no_sense_are_explained_beside_the_box(get, given, label):
    page = search(get, q=QUESTION, **given)
    assert page.status == 400
    assert page.text("div", cls="problem").startswith(label)
    assert page.all("input", name="q")[0][1]["value"] == QUESTION


@pytest.mark.parametrize("question", ["!!!", "x" * 10_001, "\ud800".encode("utf-8", "surrogatepass"), "a\x00b"])
def test_any_question_has_a_page(get, question):
    assert search(get, q=question).status in (200, 400)


def test_hits_are_drawn_by_year_and_study_design(get):
    strong = found(QUESTION)
    page = search(get, q=QUESTION)
    years = Counter(hit["year"] for hit in strong if "year" in hit)
    drawn = "; ".join(f"{year}: {count}" for year, count in sorted(years.items()))
    assert [text for _, _, text in page.all("desc")] == [drawn]
    papers = corpus().documents.get_many([hit["doc_id"][5:] for hit in strong])
    designs = Counter(design(each.article) for each in papers.values())
    assert {each for each in range(5) if page.all("rect", cls=f"design-{each}")} == {
        place for place, points in enumerate((None, 0, 1, 2, 3)) if designs[points]
    }


def test_what_papers_and_askers_write_is_shown_as_text():
    client = browser(Corpus(article("1", HOSTILE, HOSTILE)))
    asked = (urlencode({"q": HOSTILE}), urlencode({"quote": HOSTILE}))
    for answer in (client.get(f"/?{asked[0]}"), client.get(f"/papers/1?{asked[1]}")):
        page = Page(answer)
        assert "alert(1)" in page.source
        assert all(text == "" for _, _, text in page.all("script"))
        assert "{{ 7 * 7 }}" in page.source
        assert not {"\x1b", "\u202e"} & set(page.source)


@pytest.fixture(scope="module")
def answered(client):
    """The page of an answer, and its address."""
    posted = client.post("/answers", data={"q": QUESTION, "year_from": "2018"}, follow_redirects=False)
    assert posted.status_code == 303
    return Page(client.get(posted.headers["location"])), posted.headers["location"]


def test_an_answer_has_an_address_with_the_filters_that_it_was_given_for(answered):
    page, address = answered
    assert parse_qs(urlsplit(address).query) == {"q": [QUESTION], "year_from": ["2018"]}
    answer_id = urlsplit(address).path.rpartition("/")[2]
    stored = corpus().answers.get(answer_id)
    assert stored.question == QUESTION
    assert page.all("input", name="year_from")[0][1]["value"] == "2018"


def test_an_answer_keeps_the_order_and_says_which_filter_it_does_not_know(client):
    asked = {"q": QUESTION, "order": "newest", "full_text": "1"}
    posted = client.post("/answers", data=asked, follow_redirects=False)
    assert parse_qs(urlsplit(posted.headers["location"]).query) == {name: [text] for name, text in asked.items()}
    notes = Page(client.get(posted.headers["location"])).texts("p")
    assert "Papers without free full text were read for this too." in notes
    form = Page(client.get("/?" + urlencode(asked))).all("input", type="hidden")
    assert {"order", "full_text"} <= {each[1]["name"] for each in form}


def test_each_claim_has_a_row_with_its_source_which_opens_with_the_sentence_marked(answered, get):
    page, address = answered
    stored = corpus().answers.get(urlsplit(address).path.rpartition("/")[2])
    rows = [row for _, _, row in page.all("ol", cls="claims")]
    assert len(rows) == 1
    sources = [each for each in page.all("a") if each[1].get("aria-label", "").startswith("Source")]
    assert len(sources) == len(stored.spans) >= 3
    for (_, link, _), span in zip(sources, stored.spans, strict=True):
        assert get(link["href"]).text("mark", id="quote") == " ".join(span.quote.split())


def test_the_evidence_of_an_answer_is_a_table_of_what_its_papers_state(answered):
    page, address = answered
    stored = corpus().answers.get(urlsplit(address).path.rpartition("/")[2])
    head, *rows = page.rows()
    assert head == ["Paper", "Design", "Participants", "Effect"]
    rows = rows[: [row[0] for row in rows].index("Year")]  # another table
    assert len(rows) == len({each.pmid for each in stored.spans})
    assert all(f"[{number}]" in " ".join(row[0] for row in rows) for number in range(1, len(stored.spans) + 1))


def test_a_withheld_answer_says_why_in_a_sentence_and_what_to_do(client):
    page = Page(client.post("/answers", data={"q": UNANSWERED}))
    said = page.text("section", id="answer")
    assert "No answer is given:" in said
    assert "#hits-title" in page.links
    assert page.all("ol", cls="claims") == []


def test_an_answer_that_there_is_none_of_is_a_page_that_says_so(get):
    assert get("/answers/none").status == 404


@pytest.mark.parametrize("sent", [b"", b"q=", b"q=" + b"x" * 200_000, b"%ff%fe=1", b"&" * 500, b"a=1&" * 5_000])
def test_a_form_without_a_question_is_explained(client, sent):
    posted = client.post("/answers", content=sent, headers={"content-type": "application/x-www-form-urlencoded"})
    assert posted.status_code == 400
    assert Page(posted).text("div", cls="problem")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("One [1] Two, as in 2 [sic] words. [2][3]", [("One", [1]), ("Two, as in 2 [sic] words.", [2, 3])]),
        ("One [1] All of it is from one paper.", [("One", [1]), ("All of it is from one paper.", [])]),
    ],
)
def test_claims_are_told_apart_by_the_numbers_that_end_them(text, rows):
    assert claims(text) == rows


def test_selected_papers_are_cited_in_every_style(get):
    pmids = [hit["doc_id"][5:] for hit in found(QUESTION)[:2]]
    page = get("/cite?" + urlencode([("pmid", each) for each in [*pmids, pmids[0]]]))
    assert page.text("h1") == "2 citations"
    for pmid in pmids:
        paper = corpus().documents.get(pmid).article
        for style in ("vancouver", "apa_string", "ris"):
            assert any(cite(paper, style) in text for _, _, text in page.all("pre"))


def test_selected_papers_are_exported_to_a_file(client):
    pmids = [hit["doc_id"][5:] for hit in found(QUESTION)[:2]]
    sent = client.post("/exports", data={"pmid": pmids, "format": "ris"})
    assert "attachment" in sent.headers["content-disposition"]
    assert all(f"AN  - {each}" in sent.text or each in sent.text for each in pmids)


def test_a_paper_that_is_not_here_is_said_to_be_missing_and_has_no_citation(get):
    page = get("/cite?pmid=999")
    assert "Not in the corpus: PMID 999." in page.texts("p")
    assert page.all("details", name="citation") == []


@pytest.mark.parametrize("given", [[], [("pmid", "<b>")], [("pmid", "x" * 100)]])
def test_where_no_paper_is_selected_a_page_says_so(client, given):
    for page in (client.get("/cite?" + urlencode(given)), client.post("/exports", data=dict(given))):
        assert page.status_code == 400
        assert "No paper is selected" in Page(page).text("div", cls="problem")

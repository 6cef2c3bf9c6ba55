"""The tools of the lookup over the real clients and a local NCBI, and against failures."""

import pytest

from bio_mcp.literature.citing import cite
from bio_mcp.tools import lookup
from tests.literature.medline.records import fixture_records, wrapped
from tests.tools.live import KEY, LiveDesk


@pytest.fixture
def at(ncbi):
    made = LiveDesk(ncbi)
    yield made
    made.close()


@pytest.fixture
def in_pmc(ncbi, at):
    """Records of PubMed Central, the open one first: (PMID, PMCID, DOI)."""
    found = [
        each for each in at.pubmed.efetch([str(p) for p in ncbi.control.pmids()[-200:]]) if each.pmcid and each.doi
    ]
    rows = [(each.pmid, each.pmcid, each.doi) for each in found if each.abstract]
    return sorted(rows, key=lambda row: int(row[0]) % 2)


@pytest.fixture
def outside(ncbi, at):
    """A record with a DOI that PubMed Central does not have."""
    records = at.pubmed.efetch([str(pmid) for pmid in ncbi.control.pmids()[-200:]])
    return next(each for each in records if each.doi and not each.pmcid)


def test_a_heading_comes_with_its_synonyms_trees_and_search_term(at):
    body = at.ask(lookup.lookup_mesh, term="humans", maxResults=3)
    first = body["terms"][0]
    assert (first["ui"], first["name"], first["searchTerm"]) == ("D006801", "Humans", '"Humans"[MeSH Terms]')
    assert first["entryTerms"] == ["Humans (entry term)"]
    assert first["treeNumbers"]
    assert body["status"] == "complete"


def test_a_misspelt_word_is_corrected_and_a_right_one_is_not(at):
    wrong, right = (at.ask(lookup.check_spelling, query=word) for word in ("patiants", "patients"))
    assert (wrong["correctedQuery"], right["correctedQuery"]) == ("patients", None)


def reference(article, **changes):
    known = {
        "journal": article.journal.medline_abbreviation,
        "year": str(article.publication_date.year),
        "volume": article.journal.volume,
        "firstPage": article.pages.partition("-")[0],
        "author": article.authors[0].last_name.lower(),
    }
    return {**known, **changes}


@pytest.fixture
def paper(ncbi, at):
    found = at.pubmed.efetch([str(pmid) for pmid in ncbi.control.pmids()[-100:]])
    return next(
        each for each in found
        if each.pages and "-" in each.pages and each.journal.volume and each.authors and each.authors[0].last_name
        and each.authors[0].last_name.isalpha() and len(each.title.split()) > 8
    )  # fmt: skip


def matched(at, citation):
    [match] = at.ask(lookup.match_citations, citations=[citation])["matches"]
    return match


def test_a_citation_is_matched_and_checked_field_by_field(at, paper):
    match = matched(at, reference(paper, title=paper.title))
    assert (match["verdict"], match["pmid"]) == ("matched", paper.pmid)
    assert match["agrees"] == ["year", "volume", "first_page", "author", "title"]
    assert match["citation"] == cite(paper, "vancouver")


def test_a_match_whose_title_differs_is_doubtful_and_one_of_a_wrong_journal_is_found_by_its_title(at, paper):
    match = matched(at, reference(paper, title="Something else about other things"))
    assert (match["verdict"], match["differs"]) == ("doubtful", ["title"])
    match = matched(at, reference(paper, journal="fake journal", title=paper.title))
    assert (match["verdict"], match["pmid"], "search" in match["reason"]) == ("matched", paper.pmid, True)


def test_an_ambiguous_citation_names_no_pmid(ncbi, at):
    said = "j|2000|1|||c0|AMBIGUOUS (7 citations)\n"
    ncbi.control.fault(endpoint="ecitmatch", times=1, status=200, content_type="text/plain", body=said)
    match = matched(at, {"journal": "j", "year": "2000"})
    assert (match["verdict"], match["pmid"], match["reason"]) == ("ambiguous", None, "AMBIGUOUS (7 citations)")


def test_a_match_that_cannot_be_fetched_is_unverified_and_the_answer_partial(ncbi, at, paper):
    ncbi.control.fault(endpoint="efetch", times=9, recorded="500_diagnostic.html")
    body = at.ask(lookup.match_citations, citations=[reference(paper)])
    assert (body["matches"][0]["verdict"], body["status"]) == ("unverified", "partial")


def test_a_citation_that_cannot_be_searched_for_is_unverified_and_not_absent(ncbi, at):
    invented = {"title": "A paper that nobody ever wrote", "journal": "fake journal", "year": "2000", "volume": "1"}
    assert at.ask(lookup.match_citations, citations=[invented])["matches"][0]["verdict"] == "not_found"
    ncbi.control.fault(endpoint="esearch", times=9, recorded="500_diagnostic.html")
    body = at.ask(lookup.match_citations, citations=[invented])
    assert (body["matches"][0]["verdict"], body["status"]) == ("unverified", "partial")


def test_a_citation_that_says_too_little_is_refused(at):
    assert at.ask(lookup.match_citations, citations=[{"year": "2000"}])["error"]["code"] == "VALIDATION"


def test_ids_of_every_kind_lead_to_each_other(at, in_pmc):
    pmid, pmcid, doi = in_pmc[0]
    body = at.ask(lookup.convert_ids, ids=[pmid, pmcid.lower(), f"https://doi.org/{doi.upper()}", "nonsense"])
    expected = {"found": "found", "pmid": pmid, "pmcid": pmcid}
    assert [{name: row[name] for name in expected} for row in body["records"][:3]] == [expected] * 3
    assert {row["doi"].casefold() for row in body["records"][:3]} == {doi.casefold()}
    assert body["records"][3]["found"] == "invalid"
    assert body["status"] == "complete"


def test_a_paper_outside_pmc_is_looked_up_in_pubmed(at, outside):
    by_pmid, by_doi = at.ask(lookup.convert_ids, ids=[outside.pmid, outside.doi])["records"]
    assert (by_pmid["found"], by_pmid["doi"]) == ("found", outside.doi)
    assert (by_doi["found"], by_doi["pmid"]) == ("found", outside.pmid)


def test_an_id_that_nobody_knows_is_not_found(at):
    rows = at.ask(lookup.convert_ids, ids=["999999999", "PMC999999999", "10.5555/nothing"])["records"]
    assert [row["found"] for row in rows] == ["not_found"] * 3


def test_a_converter_that_is_down_makes_an_id_unknown_not_absent(ncbi, at):
    ncbi.control.fault(endpoint="idconv", times=9, recorded="500_diagnostic.html")
    body = at.ask(lookup.convert_ids, ids=["PMC999999999"])
    assert (body["records"][0]["found"], body["status"]) == ("unknown", "partial")
    assert "looked up: NCBI is having trouble" in body["reasons"][0]


def test_no_key_stands_in_the_converters_address(ncbi, at, in_pmc):
    at.ask(lookup.convert_ids, ids=[in_pmc[0][0]])
    [asked] = ncbi.control.requests("idconv")
    assert asked["method"] == "GET"
    assert "api_key" not in asked["params"]
    assert KEY not in str(asked)


def test_an_open_text_is_read_by_sections_with_its_licence_and_tables(at, in_pmc):
    body = at.ask(lookup.get_full_text, id=in_pmc[0][0])
    assert (body["pmid"], body["pmcid"], body["available"]) == (in_pmc[0][0], in_pmc[0][1], True)
    assert body["licence"]["name"] == "CC BY 4.0"
    assert body["sections"][0]["tables"] == ["Table 1\na | b\n1 | 2"]
    assert body["status"] == "complete"
    bare = at.ask(lookup.get_full_text, id=in_pmc[0][1], includeTables=False)
    assert [section["tables"] for section in bare["sections"]] == [[]] * len(bare["sections"])


def test_a_withheld_text_says_so_and_is_not_an_empty_article(at, in_pmc):
    odd = next(row for row in in_pmc if int(row[0]) % 2)
    body = at.ask(lookup.get_full_text, id=odd[1])
    assert (body["available"], body["sections"], body["status"]) == (False, [], "partial")
    assert "publisher" in body["reasons"][0]


def test_sections_are_asked_for_by_name_and_a_wrong_name_lists_them(at, in_pmc):
    body = at.ask(lookup.get_full_text, id=in_pmc[0][1], sections=["no such title"])
    assert body["error"]["code"] == "NOT_FOUND"
    title = body["error"]["message"].partition("there are: ")[2].partition(";")[0]
    found = at.ask(lookup.get_full_text, id=in_pmc[0][1], sections=[title.upper()])
    assert [section["title"] for section in found["sections"]][:1] == [title]


def test_an_article_outside_pmc_is_not_found_with_what_to_do(at, outside):
    body = at.ask(lookup.get_full_text, id=outside.pmid)
    assert body["error"]["code"] == "NOT_FOUND"
    assert "fetchArticleDetails" in body["error"]["message"]


def test_what_is_no_id_is_refused_and_an_article_is_no_book(at, paper):
    assert at.ask(lookup.get_full_text, id="what")["error"]["code"] == "VALIDATION"
    assert at.ask(lookup.get_book, id="what")["error"]["code"] == "VALIDATION"
    assert at.ask(lookup.get_book, id=paper.pmid)["error"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    ("tool", "arguments", "endpoint"),
    [
        (lookup.lookup_mesh, {"term": "humans"}, "esearch"),
        (lookup.lookup_mesh, {"term": "humans"}, "esummary"),
        (lookup.check_spelling, {"query": "patiants"}, "espell"),
        (lookup.match_citations, {"citations": [{"title": "a title"}]}, "ecitmatch"),
        (lookup.get_full_text, {"id": "PMC8152433"}, "efetch"),
        (lookup.get_book, {"id": "1"}, "efetch"),
    ],
)
@pytest.mark.parametrize(
    ("recorded", "status", "code"),
    [
        ("500_diagnostic.html", "upstream_failed", "NCBI_API_ERROR"),
        ("429_ip_form.json", "throttled", "NCBI_RATE_LIMIT_WARNING"),
        ("200_maintenance_interstitial.html", "upstream_failed", "NCBI_API_ERROR"),
    ],
)
def test_an_outage_is_an_error_that_says_whose_and_never_nothing_found(
    ncbi, at, tool, arguments, endpoint, recorded, status, code
):
    ncbi.control.fault(endpoint=endpoint, times=50, recorded=recorded)
    error = at.ask(tool, **arguments)["error"]
    assert (error["code"], error["details"]["status"]) == (code, status)
    assert KEY not in str(error)


@pytest.mark.parametrize("asked", ["20301577", "NBK1403", "nbk1403"])
def test_a_chapter_is_read_by_pmid_or_accession(ncbi, at, asked):
    [(_, raw)] = fixture_records()["20301577"]
    ncbi.control.add(wrapped(raw).decode())
    body = at.ask(lookup.get_book, id=asked)
    assert (body["pmid"], body["accession"], body["bookTitle"]) == ("20301577", "NBK1403", "GeneReviews®")
    assert body["url"] == "https://www.ncbi.nlm.nih.gov/books/NBK1403/"
    assert body["contents"][:3] == ["Summary", "GeneReview Scope", "Diagnosis"]
    assert body["sections"][0]["text"]
    assert body["citation"].startswith("Napolitano C, Priori SG. CACNA1C-Related Disorders.")


def test_an_accession_that_no_book_has_is_not_found(at):
    for unknown in ("NBK999999", "999999999"):
        error = at.ask(lookup.get_book, id=unknown)["error"]
        assert error["code"] == "NOT_FOUND"
        assert "chapter's title with searchPubMedArticles" in error["message"]


def test_what_is_known_of_a_citation_may_be_numbers(at):
    asked = {"title": "x", "journal": "J Test", "year": 2021, "volume": 3, "firstPage": 12}
    assert "matches" in at.ask(lookup.match_citations, citations=[asked])

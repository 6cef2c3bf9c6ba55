"""getArticleRelationships against the local NCBI."""

import pytest

from bio_mcp.literature.citing import STYLES
from bio_mcp.tools.pubmed import relate
from tests.support.validation import validate
from tests.tools.live import KEY
from tests.tools.test_pubmed_fetch import RECORD

SOURCE = "25760099"  # its links were recorded
KINDS = ["pubmed_similar_articles", "pubmed_citedin", "pubmed_references"]
NAMES = {"pubmed_citedin": "pubmed_pubmed_citedin", "pubmed_references": "pubmed_pubmed_refs"}


@pytest.fixture
def live(ncbi, live):
    ncbi.control.put(RECORD.replace(">77<", f">{SOURCE}<"))
    return live


def commands(ncbi):
    return [dict(each["params"])["cmd"] for each in ncbi.control.requests("elink")]


def test_similar_articles_come_by_score_without_the_article_itself(live, ncbi):
    body = live.related(SOURCE, maxRelatedResults=20)
    validate(body, relate.output_schema)
    scores = [each["score"] for each in body["relatedArticles"]]
    assert SOURCE not in [each["pmid"] for each in body["relatedArticles"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 and score == round(score, 4) for score in scores)
    assert (body["score_kind"], body["retrievedCount"]) == ("relative", 20)
    assert body["totalCount"] > 20
    assert commands(ncbi) == ["neighbor_score"]


def test_a_score_is_a_share_of_the_articles_own(live, ncbi):
    xml = "<Link><Id>{}</Id><Score>{}</Score></Link>"
    links = "".join(xml.format(*pair) for pair in ((SOURCE, 80_000_000), (1, 30_000_001), (2, 60_000_000)))
    answer = (
        f"<eLinkResult><LinkSet><DbFrom>pubmed</DbFrom><IdList><Id>{SOURCE}</Id></IdList><LinkSetDb><DbTo>pubmed</DbTo>"
        f"<LinkName>pubmed_pubmed</LinkName>{links}</LinkSetDb></LinkSet></eLinkResult>"
    )
    ncbi.control.fault(endpoint="elink", status=200, body=answer, content_type="text/xml")
    found = live.related(SOURCE)["relatedArticles"]
    assert [(each["pmid"], each["score"]) for each in found] == [("2", 0.75), ("1", 0.375)]


@pytest.mark.parametrize("name", ["200_elink_txclient_eof.json", "200_elink_resolve_fail.xml", "500_diagnostic.html"])
def test_without_scores_the_steadier_command_gives_the_order(live, ncbi, name):
    whole = live.related(SOURCE, maxRelatedResults=50)
    ncbi.control.clear_requests()
    ncbi.control.fault(endpoint="elink", recorded=name, times=6)
    body = live.related(SOURCE, maxRelatedResults=50)
    assert [each["pmid"] for each in body["relatedArticles"]] == [each["pmid"] for each in whole["relatedArticles"]]
    assert {each["score"] for each in body["relatedArticles"]} == {None}
    assert (body["score_kind"], body["reasons"]) == ("order", whole["reasons"])
    assert commands(ncbi)[-1] == "neighbor"
    assert "cmd=neighbor&" in body["eLinkUrl"]
    assert "order" in body["warnings"][0]


@pytest.mark.parametrize("kind", ["pubmed_citedin", "pubmed_references"])
def test_citing_and_cited_articles_have_no_score(live, ncbi, kind):
    body = live.related(SOURCE if kind == "pubmed_citedin" else cites(ncbi), kind)
    validate(body, relate.output_schema)
    assert body["relatedArticles"]
    assert {each["score"] for each in body["relatedArticles"]} == {None}
    assert (body["score_kind"], commands(ncbi)) == ("none", ["neighbor"])
    assert f"linkname={NAMES[kind]}" in body["eLinkUrl"]


def cites(ncbi):
    """A record of the sample with references that it names by PMID."""
    pmids = ncbi.control.pmids()
    return next(
        pmid for pmid in pmids if 'IdType="pubmed">' in (ncbi.control.record(pmid) or "").partition("<Reference>")[2]
    )


def test_a_related_article_that_pubmed_says_nothing_of_is_a_reason(live, ncbi):
    pmid = live.related(SOURCE, maxRelatedResults=1)["relatedArticles"][0]["pmid"]
    ncbi.control.put(RECORD.replace(">77<", f">{pmid}<"))
    assert live.related(SOURCE, maxRelatedResults=1)["status"] == "complete"
    ncbi.control.withdraw([int(pmid)])
    body = live.related(SOURCE, maxRelatedResults=1)
    assert (body["status"], body["reasons"]) == ("partial", [f"PubMed gave no summary of PMID {pmid}"])


def test_related_articles_are_named_and_linked_and_retracted_ones_flagged(live, ncbi):
    first, second = (each["pmid"] for each in live.related(SOURCE, maxRelatedResults=2)["relatedArticles"])
    ncbi.control.put(RECORD.replace(">77<", f">{first}<"))
    one, other = live.related(SOURCE, maxRelatedResults=2)["relatedArticles"]
    assert (one["title"], one["authors"], one["retraction"]) == ("On H2O.", "Doe J Jr, Test Group", "retracted")
    assert one["linkUrl"] == f"https://pubmed.ncbi.nlm.nih.gov/{first}/"
    assert other["pmid"] == second


@pytest.mark.parametrize("kind", [*KINDS, "citation_formats"])
def test_an_article_that_pubmed_does_not_have_is_not_found(live, kind):
    error = live.related("999999999", kind)["error"]
    assert (error["code"], error["details"]["retryable"]) == ("NOT_FOUND", False)
    assert "999999999" in error["message"]


def test_none_known_is_complete_and_says_what_it_means(live):
    body = live.related(SOURCE, "pubmed_references")
    assert (body["relatedArticles"], body["totalCount"], body["status"]) == ([], 0, "complete")
    assert "does not mean none" in body["warnings"][0]


def test_an_address_is_of_the_server_that_was_asked_and_holds_no_secret(live, ncbi):
    url = live.related(SOURCE)["eLinkUrl"]
    assert url.startswith(f"{ncbi.base_url}elink.fcgi?dbfrom=pubmed")
    assert not any(word in url for word in ("api_key", "email", "tool=", KEY, "@"))


def test_styles_without_a_kind_of_relation_are_reported_as_unused(live):
    body = live.call(sourcePmid=SOURCE, citationStyles=["bibtex"])
    assert body["relatedArticles"]
    assert "citation_formats" in body["warnings"][-1]
    for arguments in ({}, {"citationStyles": ["ris"], "relationshipType": "pubmed_similar_articles"}):
        assert not live.call(sourcePmid=SOURCE, **arguments)["warnings"]
    assert list(live.related(SOURCE, "citation_formats", moreStyles=["vancouver"])["citations"]) == ["vancouver"]
    assert list(live.related(SOURCE, "citation_formats")["citations"]) == ["ris"]


def test_a_style_in_the_wrong_field_is_refused_with_the_right_one(live):
    error = live.related(SOURCE, "citation_formats", citationStyles=["vancouver"])["error"]
    assert "moreStyles has vancouver" in error["message"]


def test_citations_come_in_every_style_that_was_asked_for(live):
    styles = ["ris", "bibtex", "apa_string", "mla_string"]
    body = live.related(SOURCE, "citation_formats", citationStyles=styles, moreStyles=["vancouver", "csl_json"])
    validate(body, relate.output_schema)
    assert set(body["citations"]) == set(STYLES)
    assert all(SOURCE in text or "2023" in text for text in body["citations"].values())
    assert (body["relatedArticles"], body["retrievedCount"], body["eLinkUrl"]) == ([], 0, None)
    assert body["sourceRetraction"] == "retracted"
    assert "RETRACTED" in body["citations"]["apa_string"].upper()

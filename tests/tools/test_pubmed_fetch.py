"""fetchArticleDetails against the local NCBI."""

import json

import pytest
from lxml import etree

from bio_mcp.tools import answer_size
from bio_mcp.tools.pubmed import fetch_details
from tests.support.validation import validate


def known(ncbi, many):
    return [str(pmid) for pmid in ncbi.control.pmids()[:many]]


RECORD = """<PubmedArticleSet><PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">77</PMID><Article>
<Journal><ISSN IssnType="Print">1234-5678</ISSN><JournalIssue><Volume>10</Volume><Issue>2</Issue><PubDate>
<Year>2023</Year><Month>Mar</Month><Day>15</Day></PubDate></JournalIssue><Title>Journal of Tests</Title>
<ISOAbbreviation>J Tests</ISOAbbreviation></Journal><ArticleTitle>On H<sub>2</sub>O.</ArticleTitle>
<Pagination><MedlinePgn>100-10</MedlinePgn></Pagination><Abstract><AbstractText Label="AIM">To see.</AbstractText>
<AbstractText Label="RESULT">Seen.</AbstractText></Abstract><AuthorList><Author><LastName>Doe</LastName>
<ForeName>John</ForeName><Initials>J</Initials><Suffix>Jr</Suffix><AffiliationInfo><Affiliation>One.</Affiliation>
</AffiliationInfo><AffiliationInfo><Affiliation>Two.</Affiliation></AffiliationInfo></Author><Author>
<CollectiveName>Test Group</CollectiveName></Author></AuthorList><GrantList><Grant><GrantID>R01</GrantID>
<Agency>NCI NIH HHS</Agency><Country>United States</Country></Grant></GrantList><PublicationTypeList>
<PublicationType UI="D016428">Journal Article</PublicationType></PublicationTypeList></Article>
<CommentsCorrectionsList><CommentsCorrections RefType="RetractionIn"><RefSource>J Tests. 2024</RefSource>
<PMID>78</PMID></CommentsCorrections><CommentsCorrections RefType="CommentIn"><RefSource>Elsewhere</RefSource>
</CommentsCorrections></CommentsCorrectionsList><MeshHeadingList><MeshHeading>
<DescriptorName UI="D009369" MajorTopicYN="N">Neoplasms</DescriptorName>
<QualifierName UI="Q000628" MajorTopicYN="Y">therapy</QualifierName><QualifierName UI="Q000150" MajorTopicYN="N">
complications</QualifierName></MeshHeading><MeshHeading><DescriptorName UI="D006801" MajorTopicYN="N">Humans
</DescriptorName></MeshHeading></MeshHeadingList></MedlineCitation><PubmedData><ArticleIdList>
<ArticleId IdType="pubmed">77</ArticleId><ArticleId IdType="doi">10.1/x</ArticleId></ArticleIdList></PubmedData>
</PubmedArticle></PubmedArticleSet>""".replace("\n", "")


def test_an_article_is_given_as_the_contract_shows_it(live, ncbi):
    ncbi.control.put(RECORD)
    body = live.fetch("77", includeGrantInfo=True)
    validate(body, fetch_details.output_schema)
    [article] = body["articles"]
    assert (article["title"], article["abstractText"]) == ("On H₂O.", "AIM: To see. RESULT: Seen.")
    assert article["authors"] == [
        {"lastName": "Doe", "firstName": "John", "initials": "J", "suffix": "Jr"},
        {"collectiveName": "Test Group"},
    ]
    journal = article["journalInfo"]
    assert journal.pop("publicationDate") == {"year": 2023, "month": "Mar", "day": 15, "medlineDate": "2023 Mar 15"}
    assert list(journal.values()) == ["Journal of Tests", "J Tests", "10", "2", "100-10", "1234-5678"]
    assert [(each["descriptorName"], each["qualifierName"], each["isMajorTopic"]) for each in article["meshTerms"]] == [
        ("Neoplasms", "therapy", True),
        ("Neoplasms", "complications", False),
        ("Humans", None, False),
    ]
    assert (article["publicationTypes"], article["keywords"]) == (["Journal Article"], ["Neoplasms", "Humans"])
    assert article["grantList"] == [{"grantId": "R01", "agency": "NCI NIH HHS", "country": "United States"}]
    assert (article["doi"], article["pmcid"], article["retraction"]) == ("10.1/x", None, "retracted")
    assert article["corrections"] == ["RetractionIn: PMID 78, J Tests. 2024"]
    assert body["eFetchDetails"] == {
        "urls": [f"{ncbi.base_url}efetch.fcgi?db=pubmed&id=77&retmode=xml"],
        "requestMethod": "POST",
    }
    assert [each["method"] for each in ncbi.control.requests("efetch")] == ["POST"]


def test_what_was_not_asked_for_is_not_there(live, ncbi):
    ncbi.control.put(RECORD)
    [plain] = live.fetch("77", includeMeshTerms=False)["articles"]
    assert not {"meshTerms", "grantList"} & set(plain)
    assert plain["keywords"] == []
    [short] = live.fetch("77", detailLevel="citation_data", includeMeshTerms=False)["articles"]
    assert set(short) == {"pmid", "title", "authors", "journalInfo", "doi", "pmcid", "retraction"}
    assert "affiliation" not in short["authors"][0]
    assert live.fetch("77", detailLevel="citation_data")["articles"][0]["meshTerms"]


def test_trials_that_the_record_names_are_linked(live, ncbi):
    bank = "<DataBank><DataBankName>{}</DataBankName><AccessionNumberList><AccessionNumber>{}</AccessionNumber>"
    named = "".join(
        bank.format(*each) + "</AccessionNumberList></DataBank>"
        for each in (("ClinicalTrials.gov", "NCT01234567"), ("GENBANK", "AF321191"))
    )
    ncbi.control.put(RECORD.replace("<GrantList>", f'<DataBankList CompleteYN="Y">{named}</DataBankList><GrantList>'))
    [shown] = live.fetch(77)["articles"]
    url = "https://clinicaltrials.gov/study/NCT01234567"
    assert shown["trials"] == [{"registry": "ClinicalTrials.gov", "number": "NCT01234567", "url": url}]


def test_affiliations_come_on_request_each_once(live, ncbi):
    ncbi.control.put(RECORD.replace("<Author><CollectiveName>", f"{AT_TWO}<Author><CollectiveName>"))
    [article] = live.fetch("77", includeAffiliations=True)["articles"]
    assert article["affiliations"] == ["One.", "Two."]
    assert [each.get("affiliationIndices") for each in article["authors"]] == [[0, 1], [1], None]
    [plain] = live.fetch("77")["articles"]
    assert "affiliation" not in json.dumps(plain)


AT_TWO = "<Author><LastName>Roe</LastName><AffiliationInfo><Affiliation>Two.</Affiliation></AffiliationInfo></Author>"


def test_articles_come_in_the_order_asked_for_each_once_and_the_missing_are_named(live, ncbi):
    pmids = known(ncbi, 30)
    body = live.fetch("999999999", *reversed(pmids), f"000{pmids[3]}", pmids[0], maxCharacters=answer_size.MOST)
    assert body["requestedPmids"] == ["999999999", *reversed(pmids)]
    assert [each["pmid"] for each in body["articles"]] == list(reversed(pmids))
    assert body["notFoundPmids"] == ["999999999"]
    assert body["status"] == "complete"


BOOK = """<PubmedArticleSet><PubmedBookArticle><BookDocument><PMID Version="1">88</PMID><ArticleIdList>
<ArticleId IdType="bookaccession">NBK1</ArticleId></ArticleIdList><Book><Publisher><PublisherName>A Press
</PublisherName><PublisherLocation>Bethesda</PublisherLocation></Publisher><BookTitle book="b">GeneBook</BookTitle>
<PubDate><Year>1993</Year></PubDate></Book><ArticleTitle>A chapter</ArticleTitle><Abstract><AbstractText>Text.
</AbstractText></Abstract></BookDocument><PubmedBookData><ArticleIdList><ArticleId IdType="pubmed">88</ArticleId>
</ArticleIdList></PubmedBookData></PubmedBookArticle></PubmedArticleSet>""".replace("\n", "")


@pytest.mark.parametrize("level", ["abstract_plus", "citation_data"])
def test_a_chapter_names_its_book(live, ncbi, level):
    ncbi.control.put(BOOK)
    [chapter] = live.fetch("88", detailLevel=level)["articles"]
    assert (chapter["title"], chapter["journalInfo"]["title"]) == ("A chapter", "GeneBook")
    assert chapter["book"] == {"title": "GeneBook", "publisher": "A Press", "accession": "NBK1"}


# ---- NCBI's own text ----


@pytest.mark.parametrize(("level", "mime"), [("full_xml", "application/xml"), ("medline_text", "text/plain")])
def test_ncbis_own_text_is_given_byte_for_byte(live, ncbi, level, mime):
    pmids = known(ncbi, 25)
    body = live.fetch(*pmids, "999999999", detailLevel=level, maxCharacters=answer_size.MOST)
    validate(body, fetch_details.output_schema)
    sent = live.pubmed.efetch_text([*pmids, "999999999"], style="xml" if mime.endswith("xml") else "medline")
    assert (body["content"], body["contentType"]) == (sent, mime)
    assert (body["notFoundPmids"], body["status"]) == (["999999999"], "complete")
    read = {each["pmid"]: each for each in live.fetch(*pmids, maxCharacters=answer_size.MOST)["articles"]}
    assert {each["pmid"] for each in body["articles"]} == set(read)
    assert all(set(each) == {"pmid", "title", "retraction"} for each in body["articles"])
    if level == "full_xml":
        reported = ("title", "retraction")
        assert all(each[name] == read[each["pmid"]][name] for each in body["articles"] for name in reported)


@pytest.mark.parametrize("level", ["full_xml", "medline_text"])
def test_nothing_found_in_ncbis_own_text_is_no_failure(live, level):
    body = live.fetch("999999999", detailLevel=level)
    assert (body["articles"], body["notFoundPmids"], body["status"]) == ([], ["999999999"], "complete")


def test_a_medline_text_that_lacks_a_record_that_pubmed_has_is_a_failure(live, ncbi):
    pmids = known(ncbi, 2)
    text = live.pubmed.efetch_text(pmids[:1], style="medline")
    ncbi.control.fault(endpoint="efetch", status=200, body=text, content_type="text/plain")
    error = live.fetch(*pmids, detailLevel="medline_text")["error"]
    assert (error["code"], error["details"]["retryable"]) == ("NCBI_PARSING_ERROR", True)


# ---- more than fits ----


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "medline_text", "citation_data"])
def test_an_answer_is_short_unless_more_is_asked_for_and_asking_on_gives_every_record(live, ncbi, level):
    left, seen = known(ncbi, 60), []
    while left:
        outcome = live.fetch(*left, detailLevel=level, maxCharacters=30_000)
        validate(outcome, fetch_details.output_schema)
        given = [each["pmid"] for each in outcome["articles"]]
        assert len(json.dumps(outcome, ensure_ascii=False, separators=(",", ":"))) <= 30_000 or len(given) == 1
        assert outcome["notFoundPmids"] == []
        seen, left = seen + given, outcome.get("leftOutPmids", [])
    assert sorted(seen) == sorted(known(ncbi, 60))


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml", "medline_text"])
def test_one_record_is_given_however_long_it_is(live, ncbi, level):
    ncbi.control.put(RECORD.replace("To see.", "To see. " * 2_000))
    body = live.fetch("77", detailLevel=level, maxCharacters=answer_size.LEAST)
    assert [each["pmid"] for each in body["articles"]] == ["77"]
    assert body["status"] == "complete"


def lambda_bytes(body):
    """What the MCP endpoint's Lambda hands over for this body: twice in a result, which is a string in an object."""
    text = json.dumps(body, ensure_ascii=False)
    result = json.dumps({"result": {"content": [{"type": "text", "text": text}], "structuredContent": body}})
    return len(json.dumps({"statusCode": 200, "body": result}, ensure_ascii=False).encode())


def many(ncbi):
    """Two hundred copies of a long record, full of what is escaped again and again: not all of them fit."""
    ncbi.control.put(RECORD.replace("To see.", 'To "see" über. ' * 700))
    return [str(pmid) for pmid in ncbi.control.clone(200, "2024/01/01", sources=[77])]


@pytest.mark.parametrize("level", ["abstract_plus", "full_xml"])
def test_as_much_as_can_be_asked_for_fits_lambda_and_the_rest_is_named(live, ncbi, level):
    pmids = many(ncbi)
    body = live.fetch(*pmids, detailLevel=level, maxCharacters=answer_size.MOST)
    validate(body, fetch_details.output_schema)
    given = [each["pmid"] for each in body["articles"]]
    assert lambda_bytes(body) < 6 * 2**20 - 10_000
    assert sorted([*given, *body.get("leftOutPmids", [])]) == sorted(pmids)
    assert body["notFoundPmids"] == []
    assert body["status"] == "partial"
    assert "leftOutPmids" in body["reasons"][0]
    assert live.fetch(*body["leftOutPmids"], detailLevel=level)["articles"]
    if level == "full_xml":
        assert len(body["content"]) <= answer_size.MOST
        root = etree.fromstring(body["content"].encode())
        assert [each.findtext(".//PMID") for each in root] == given

"""Records read from their bytes are those that a tree of them gives, whatever shape they have."""

import gzip
import random
import re

import pytest
from lxml import etree

from bio_mcp.literature.medline.citations import article
from bio_mcp.literature.medline.prolog import sealed_builder
from bio_mcp.literature.medline.regular import Irregular, articles
from tests.literature.medline.outcomes import END, ROOT, record, same
from tests.literature.medline.records import FIXTURES

QUICK = gzip.decompress((FIXTURES / "quick600.dev.xml.gz").read_bytes())
RECORDS = re.findall(rb"<PubmedArticle>.*?</PubmedArticle>", QUICK, re.DOTALL)
AUTHOR = b'<Author ValidYN="Y"><LastName>L</LastName><ForeName>F G</ForeName><Initials>FG</Initials>%b</Author>'
AFFILIATION = b"<AffiliationInfo><Affiliation>%b</Affiliation></AffiliationInfo>"
CITED = b"<Reference><Citation>%b</Citation><ArticleIdList>%b</ArticleIdList></Reference>"
DATE = b'<PubMedPubDate PubStatus="%b"><Year>2001</Year><Month>2</Month><Day>3</Day>%b</PubMedPubDate>'
CITATION = {
    "a revision": b"<DateRevised><Year>2021</Year><Month>06</Month><Day>31</Day></DateRevised>",
    "a revision twice": b"<DateRevised><Year>2021</Year></DateRevised >" * 2,
    "an empty revision": b"<DateRevised/>",
    "a journal's catalogue twice": b"<MedlineJournalInfo><Country>A</Country></MedlineJournalInfo>"
    b"<MedlineJournalInfo><Country/><MedlineTA>B</MedlineTA></MedlineJournalInfo>",
    "headings": b'<MeshHeadingList><MeshHeading><DescriptorName UI="D1" MajorTopicYN="N">A &amp; B</DescriptorName>'
    b'<QualifierName UI="Q1" MajorTopicYN="Y">C</QualifierName></MeshHeading><MeshHeading/></MeshHeadingList>',
    "keywords": b'<KeywordList><Keyword MajorTopicYN="N">a  b</Keyword><Keyword>c<i>d</i></Keyword></KeywordList>',
    "keywords of two owners": b'<KeywordList Owner="NLM"><Keyword>a</Keyword></KeywordList>'
    b'<KeywordList Owner="X"><Keyword MajorTopicYN="Y">&lt;b&gt;</Keyword></KeywordList>',
    "a keyword that is none": b"<KeywordList><Other>a</Other><Keyword x='1'>b</Keyword></KeywordList>",
    "a chemical": b"<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber></Chemical></ChemicalList>",
    "something else": b"<Unknown><Abstract><AbstractText>no</AbstractText></Abstract></Unknown>",
    "something else in itself": b"<CoiStatement>a<CoiStatement>b</CoiStatement></CoiStatement>",
    "an abstract in the wrong place": b"<Abstract><AbstractText>no</AbstractText></Abstract>",
    "an empty citation": b"<MedlineCitation Status='x'/>",
    "a record in a section": b"<CoiStatement>" + record(9) + b"</CoiStatement>",
}
ARTICLE = {
    "markup": b"<ArticleTitle>a<i>b</i><sup>2</sup><sub>x<i>y</i></sub> <b>c </b>\n d</ArticleTitle>",
    "markup and entities": b"<ArticleTitle>a &lt; b <sup>+</sup>&amp;lt; <sub>&gt;</sub></ArticleTitle>",
    "an unwanted date that is not well-formed": b'<ArticleDate DateType="Print"><Year>1</Year></Year></ArticleDate>',
    "a second date that is not well-formed": b"<ArticleDate><Year>2020</Year></ArticleDate>"
    b"<ArticleDate><Year>2021</Year></Year></ArticleDate>",
    "unclosed markup": b"<ArticleTitle>a<i>b</ArticleTitle>",
    "a formula": b'<ArticleTitle><m:math xmlns:m="u"><m:mi>x</m:mi></m:math></ArticleTitle>',
    "a formula without its namespace": b"<ArticleTitle><m:math><m:mi>x</m:mi></m:math></ArticleTitle>",
    "another namespace": b'<ArticleTitle xmlns="u">a</ArticleTitle>',
    "two of one id": b'<ArticleTitle><i xml:id="a">b</i><i xml:id="a">c</i></ArticleTitle>',
    "a deep title": b"<ArticleTitle>" + b"<i>" * 251 + b"</i>" * 251 + b"</ArticleTitle>",
    "a comment": b"<ArticleTitle>a<!-- </ArticleTitle> -->b</ArticleTitle>",
    "a commented author": b"<AuthorList><!--" + AUTHOR % b"" + b"-->" + AUTHOR % b"" + b"</AuthorList>",
    "a > in an attribute": b'<Abstract><AbstractText Label="a>b">c</AbstractText></Abstract>',
    "a label": b'<Abstract><AbstractText Label=" A &amp; B " NlmCategory="AIM">c</AbstractText>'
    b"<AbstractText Label=''/><AbstractText/><CopyrightInformation>(c)  d</CopyrightInformation></Abstract>",
    "two copyright lines": b"<Abstract><CopyrightInformation>a</CopyrightInformation><AbstractText>c</AbstractText>"
    b"<CopyrightInformation/></Abstract>",
    "a longer name": b"<Abstract><AbstractTexts>a</AbstractTexts><AbstractText>b</AbstractText></Abstract>",
    "pages": b"<Pagination><StartPage>1</StartPage><EndPage>5</EndPage></Pagination>",
    "pages the other way round": b"<Pagination><EndPage>5</EndPage><StartPage>1</StartPage></Pagination>",
    "a journal": b"<Journal><ISSN>1</ISSN><JournalIssue CitedMedium='Print'><Volume/></JournalIssue>"
    b"<Title>A &amp; B</Title><ISOAbbreviation> </ISOAbbreviation></Journal>",
    "an issue": b'<Journal><JournalIssue CitedMedium="Print"><Volume>1 </Volume><Issue/><PubDate><Year>2001</Year>'
    b'<Month>Feb</Month></PubDate></JournalIssue><ISSN IssnType="Print">1234</ISSN></Journal>',
    "two issues": b'<Journal><JournalIssue CitedMedium="Print"><Volume>1</Volume></JournalIssue>'
    b'<JournalIssue CitedMedium="Print"><Issue>2</Issue></JournalIssue></Journal>',
    "authors": b'<AuthorList CompleteYN="N">%b<Author ValidYN="N"><LastName>A&amp;B</LastName></Author>'
    b'<Author ValidYN="Y" EqualContrib="Y"><LastName/></Author>'
    b"<Author><CollectiveName>G<sub>2</sub></CollectiveName></Author>%b</AuthorList>"
    % (AUTHOR % (AFFILIATION % b"a  b" * 3), AUTHOR % (AFFILIATION % b"<i>a</i>")),
    "an ORCID": b"<AuthorList>%b%b</AuthorList>"
    % (
        AUTHOR % b'<Identifier Source="ORCID">https://orcid.org/0000-0001-2345-678x</Identifier>',
        AUTHOR % b'<Identifier Source="ORCID">0000-0001-2345-&#54;789</Identifier><Suffix>Jr</Suffix>',
    ),
    "an affiliation of nobody": b"<AuthorList>%b%b</AuthorList>" % (AUTHOR % b"", AFFILIATION % b"a"),
    "grants": b"<GrantList><Grant><GrantID>a &amp;amp; b</GrantID><Agency/></Grant><Grant><Agency>c</Agency>"
    b"<GrantID>d</GrantID></Grant></GrantList>",
    "ids of places": b'<ELocationID EIdType="doi" ValidYN="N">10.1/a</ELocationID>'
    b'<ELocationID EIdType="pii">b<i>c</i></ELocationID>',
    "dates": b'<ArticleDate DateType="Print"><Year>2000</Year></ArticleDate>'
    b"<ArticleDate><Year>2001</Year></ArticleDate>",
    "an entity": b"<ArticleTitle>a&nbsp;b</ArticleTitle>",
    "a number": b"<ArticleTitle>a&#945;b</ArticleTitle>",
    "the end of CDATA": b"<ArticleTitle>a]]>b</ArticleTitle>",
    "a tab and a space without break": "<ArticleTitle>\u00a0a\tb\u00a0</ArticleTitle>".encode(),
}
DATA = {
    "an id with an entity of an entity": b"<ArticleIdList>"
    b'<ArticleId IdType="doi">10.1/a&amp;lt;b&amp;amp;c</ArticleId></ArticleIdList>',
    "dates": b"<History>%b%b%b</History>"
    % (
        DATE % (b"pubmed", b"<Hour>6</Hour><Minute>0</Minute>"),
        DATE % (b"entrez", b"<Hour>26</Hour>"),
        DATE % (b"received", DATE % (b"medline", b"")),
    ),
    "ids": b'<ArticleIdList><ArticleId IdType="doi">doi:10.1000/a</ArticleId><ArticleId>x</ArticleId></ArticleIdList>',
    "references": b"<ReferenceList><Title>R</Title>%b%b%b<Reference/></ReferenceList>"
    % (
        CITED % (b"a  &lt; b", b'<ArticleId IdType="pubmed">12</ArticleId><ArticleId IdType="doi"/>'),
        CITED % (b"<i>a</i>", b'<ArticleId IdType="pmc">PMC1;</ArticleId>' * 4),
        CITED % (b"", b""),
    ),
    "references in references": b"<ReferenceList><ReferenceList>%b</ReferenceList>%b</ReferenceList>"
    % (CITED % (b"a", b""), CITED % (b"b", b"")),
    "an id of no reference": b"<ReferenceList>%b<ArticleId IdType='pubmed'>5</ArticleId></ReferenceList>"
    % (CITED % (b"a", b"")),
    "instructions": b"<ReferenceList>%b</ReferenceList><PublicationStatus>a<?pmcsd ?>b<?x y?></PublicationStatus>"
    % (CITED % (b"a<?pmcsd?> b", b"")),
    "an instruction in an attribute": b'<ArticleIdList><ArticleId IdType="<?x?>doi">10.1/x</ArticleId></ArticleIdList>',
}
SHAPES = {
    **{f"citation: {name}": record(1).replace(b"<Article>", odd + b"<Article>") for name, odd in CITATION.items()},
    **{f"article: {name}": record(1).replace(b"</Article>", odd + b"</Article>") for name, odd in ARTICLE.items()},
    **{f"data: {name}": record(1, after=b"<PubmedData>%b</PubmedData>" % odd) for name, odd in DATA.items()},
}
ODD = (
    b"&amp;", b"&", b"<", b">", b'"', b"<!-- ", b" -->", b"<?pmcsd ?>", b"\r", b"\t", b"\x00", b"\xff",
    b"\xef\xbf\xbf", b"<i>a</i>", b"<i>", b"<sup/>", b"]]>", b"<x xmlns='u'/>", b"  ", b"</PubmedArticle>",
    b"<Reference>", b"<Year>1</Year>",
)  # fmt: skip


def changed(rng, raw):
    """A real record with one to three of its tags and texts taken out, put elsewhere or broken."""
    parts = re.findall(rb"<[^>]*>|[^<]+", raw)
    for _ in range(rng.randint(1, 3)):
        at, to = rng.randrange(len(parts)), rng.randrange(len(parts))
        cut = rng.randrange(len(parts[at]) + 1)
        change = rng.randrange(4)
        if change == 0:
            parts[at] = b""
        elif change == 1:
            parts[to] += parts[at]
        elif change == 2:
            parts[at], parts[to] = parts[to], parts[at]
        else:
            parts[at] = parts[at][:cut] + rng.choice(ODD) + parts[at][cut:]
    return b"".join(parts)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_record_of_an_odd_shape_reads_as_its_tree_does(shape):
    assert same(RECORDS[0] + shape + RECORDS[1])


def by_tree(batch):
    """The articles of a batch that is a tree of records without complaint; None for any other."""
    parser = sealed_builder()
    try:
        root = etree.fromstring(ROOT + batch + END, parser)
    except etree.XMLSyntaxError:
        return None
    plain = list(root) == list(root.iter("PubmedArticle")) and not len(parser.error_log)
    return [article(element) for element in root] if plain else None


@pytest.mark.parametrize("seed", range(8))
def test_a_real_record_that_is_broken_anywhere_reads_as_its_tree_does_or_is_left_to_it(seed):
    rng = random.Random(seed)  # noqa: S311  nothing is secret
    short = [raw for raw in RECORDS if len(raw) < 8_000]
    read = 0
    for _ in range(25):
        batch = changed(rng, rng.choice(short)) + rng.choice(short)
        try:
            found = articles(batch)[0]
        except Irregular:
            continue
        assert found == by_tree(batch)
        read += 1
    assert read


def test_nearly_all_real_records_have_the_usual_shape():
    regular = 0
    for raw in RECORDS:
        try:
            regular += len(articles(raw)[0])
        except Irregular:
            continue
    assert regular > 0.97 * len(RECORDS)


def test_line_breaks_are_counted_so_that_a_failure_names_its_line():
    assert articles(RECORDS[0] + b"\n\n" + RECORDS[1])[1] == (RECORDS[0] + RECORDS[1]).count(b"\n") + 2


NO_TEXT = {"broken UTF-8": b"a\xffb", "a surrogate": b"\xed\xa0\x80", "half a character": b"\xc3"}


@pytest.mark.parametrize("where", [b"</Language>", b"<Language>", b"<PubmedArticle>", b"</PubmedArticle>"])
@pytest.mark.parametrize("odd", NO_TEXT.values(), ids=NO_TEXT)
def test_bytes_that_are_no_characters_are_irregular_wherever_they_stand(where, odd):
    for batch in (RECORDS[0].replace(where, odd + where, 1), RECORDS[0].replace(where, where + odd, 1)):
        assert odd in batch
        with pytest.raises(Irregular):
            articles(batch)


def test_what_followed_a_section_is_remembered_only_for_that_place():
    languages = [b"<Language>%b</Language>" % code for code in (b"eng", b"fre", b"ger")]
    shapes = [record(1).replace(b"</Article>", b" ".join(languages[:n]) + b"</Article>") for n in (1, 3, 2, 3, 1, 2)]
    assert [len(each.languages) for each in articles(b"".join(shapes))[0]] == [1, 3, 2, 3, 1, 2]
    many = [b"<Other n='%d'>a</Other>" % n for n in range(5_000)]
    assert same(record(1).replace(b"</Article>", b"".join(many) + languages[1] + b"</Article>"))


@pytest.mark.parametrize(
    "batch",
    [RECORDS[0][:-1], RECORDS[0] + b"<x/>", b"<x>" + RECORDS[0], RECORDS[0].replace(b">", b" x='1'>", 1)],
    ids=["cut", "something after", "something before", "an attribute"],
)
def test_a_batch_of_more_or_less_than_records_is_not_read(batch):
    with pytest.raises(Irregular):
        articles(batch)

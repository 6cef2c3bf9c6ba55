"""Files made to harm: they are refused, quickly, with a clear sentence, and read nothing but themselves."""

import io
from itertools import chain, repeat

import pytest

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline import OddRecord, parse
from bio_mcp.literature.medline.article import LONGEST_TEXT
from bio_mcp.literature.medline.stream import LONGEST_RECORD, MOST_TAGS, parse_each

RECORD = (
    '<PubmedArticle><MedlineCitation><PMID Version="1">1</PMID><Article><ArticleTitle>{}</ArticleTitle></Article>'
    "</MedlineCitation></PubmedArticle>"
)
LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
SUBSETS = {
    "billion laughs": f'<!ENTITY l0 "ha">{LAUGHS}',
    "external entity": '<!ENTITY l9 SYSTEM "file:///etc/hostname">',
    "network entity": '<!ENTITY l9 SYSTEM "http://127.0.0.1:9/x">',
    "parameter entity": '<!ENTITY % remote SYSTEM "http://127.0.0.1:9/x.dtd"> %remote;',
    "one harmless entity": '<!ENTITY l9 "x">',
    "element declaration": "<!ELEMENT PubmedArticleSet ANY>",
    "default attribute": '<!ATTLIST PMID Version CDATA "9">',
}


def read(content):
    return list(parse(io.BytesIO(content.encode())))


def with_subset(subset, body):
    return f"<!DOCTYPE PubmedArticleSet [{subset}]><PubmedArticleSet>{body}</PubmedArticleSet>"


@pytest.mark.parametrize("subset", SUBSETS.values(), ids=SUBSETS)
def test_a_file_with_declarations_of_its_own_is_refused(subset):
    with pytest.raises(NcbiUnreadable, match=r"declares|broken"):
        read(with_subset(subset, RECORD.format("&l9;" if "l9" in subset else "T.")))


def test_laughs_in_an_attribute_are_refused_before_they_are_expanded():
    body = RECORD.format("T.").replace('Version="1"', 'Version="&l9;"')
    with pytest.raises(NcbiUnreadable):
        read(with_subset(SUBSETS["billion laughs"], body))


def test_a_long_prolog_does_not_hide_a_declaration():
    padding = f"<!-- {'x' * 1000} -->" * 30
    with pytest.raises(NcbiUnreadable, match="declares"):
        read(padding + with_subset(SUBSETS["external entity"], RECORD.format("&l9;")))


def test_a_doctype_in_a_comment_is_no_decoy():
    decoy = "<!-- <!DOCTYPE PubmedArticleSet> --><?x <!DOCTYPE y> ?>"
    with pytest.raises(NcbiUnreadable, match="declares"):
        read(decoy + with_subset(SUBSETS["one harmless entity"], RECORD.format("T.")))
    assert read(decoy + f"<!DOCTYPE PubmedArticleSet><PubmedArticleSet>{RECORD.format('T.')}</PubmedArticleSet>")


def test_an_endless_prolog_is_refused():
    with pytest.raises(NcbiUnreadable, match="no root"):
        read(f"<!-- {'x' * 200_000} -->" + with_subset("", RECORD.format("T.")))


@pytest.mark.parametrize("doctype", ["", '<!DOCTYPE PubmedArticleSet SYSTEM "https://example.org/p.dtd">'])
def test_an_entity_that_is_not_xmls_own_is_refused_not_dropped(doctype):
    with pytest.raises(NcbiUnreadable):
        read(f"{doctype}<PubmedArticleSet>{RECORD.format('a&nbsp;b')}</PubmedArticleSet>")


def test_xmls_five_entities_and_character_references_are_read():
    (article,) = read(f"<PubmedArticleSet>{RECORD.format('&lt;&gt;&amp;&quot;&apos;&#956;&#x3b1;')}</PubmedArticleSet>")
    assert article.title == "<>&\"'μα"


def test_an_xinclude_and_a_stylesheet_are_left_alone():
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/hostname" parse="text"/>'
    (article,) = read(
        f'<?xml-stylesheet href="x"?><PubmedArticleSet>{RECORD.format(f"a{include}b")}</PubmedArticleSet>'
    )
    assert article.title == "ab"


def test_depth_has_a_bound():
    with pytest.raises(NcbiUnreadable):
        read(f"<PubmedArticleSet>{RECORD.format('<i>' * 5000 + '</i>' * 5000)}</PubmedArticleSet>")


def test_one_text_has_a_bound():
    with pytest.raises(NcbiUnreadable):
        read(f"<PubmedArticleSet>{RECORD.format('x' * 11_000_000)}</PubmedArticleSet>")


def test_cdata_and_comments_inside_text_lose_nothing():
    (article,) = read(f"<PubmedArticleSet>{RECORD.format('a<!-- b --><![CDATA[ <c> ]]><?d e?>f')}</PubmedArticleSet>")
    assert article.title == "a <c> f"


class Endless(io.RawIOBase):
    """`start`, then `piece` without end; `given` counts the bytes that were asked for."""

    def __init__(self, start, piece):
        self._pieces, self.given = chain([start], repeat(piece * (32_768 // len(piece)))), 0

    def read(self, size=-1):  # noqa: ARG002  the signature is a file's
        assert self.given < 2 * LONGEST_RECORD, "it is read without end"
        piece = next(self._pieces)
        self.given += len(piece)
        return piece


ENDLESS = {
    "elements": (b"<PubmedArticle><MedlineCitation>", b"<a/>"),
    "a comment": (b"<PubmedArticle><!--", b" - "),
    "attributes": (b"<PubmedArticle ", b"a='' "),
    "space between records": (b"", b" \n"),
    "texts": (b"<PubmedArticle>", b"<a>" + b"x" * 30_000 + b"</a>"),
}


@pytest.mark.parametrize("attribute", [b"", b" one-at-a-time=''"], ids=["in batches", "one at a time"])
@pytest.mark.parametrize(("start", "piece"), ENDLESS.values(), ids=ENDLESS)
def test_a_record_without_end_is_refused_before_it_fills_memory(attribute, start, piece):
    first = RECORD.format("T.").encode()
    stream = Endless(b"<PubmedArticleSet" + attribute + b">" + first + start, piece)
    found = parse_each(stream)
    assert next(found).pmid == "1"
    with pytest.raises(NcbiUnreadable):
        list(found)
    assert stream.given <= LONGEST_RECORD + (1 << 17)


def test_a_record_of_many_thousand_collaborators_is_read():
    person = (
        "<Investigator><LastName>L</LastName><ForeName>F</ForeName><Initials>F</Initials><AffiliationInfo>"
        f"<Affiliation>{'Department of Surgery, ' * 9}</Affiliation></AffiliationInfo></Investigator>"
    )
    many = MOST_TAGS // 14
    title = f"T.</ArticleTitle></Article><InvestigatorList>{person * many}</InvestigatorList><Article><ArticleTitle>T."
    (article,) = read(f"<PubmedArticleSet>{RECORD.format(title)}</PubmedArticleSet>")
    assert len(article.investigators) == many > 30_000


ODD = {
    "no PMID": RECORD.format("T.").replace(">1<", "><"),
    "a path for a PMID": RECORD.format("T.").replace(">1<", ">../../x<"),
    "a PMID of ten digits": RECORD.format("T.").replace(">1<", ">1234567890<"),
    "a version of twenty digits": RECORD.format("T.").replace('"1"', f'"{"9" * 20}"'),
    "a text without end": RECORD.format("a. B" * (LONGEST_TEXT // 4 + 1)),
    "a deletion of what is no PMID": '<DeleteCitation><PMID Version="1">-1</PMID></DeleteCitation>',
}


@pytest.mark.parametrize("attribute", ["", " one-at-a-time=''"], ids=["in batches", "one at a time"])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_an_odd_record_is_reported_in_its_place_and_the_others_are_read(attribute, odd):
    content = f"<PubmedArticleSet{attribute}>{RECORD.format('T.')}{odd}{RECORD.format('U.')}</PubmedArticleSet>"
    first, between, last = parse_each(io.BytesIO(content.encode()))
    assert (first.title, last.title) == ("T.", "U.")
    assert isinstance(between, OddRecord)
    assert len(str(between)) < 200
    with pytest.raises(OddRecord):
        read(content)

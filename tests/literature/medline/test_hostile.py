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


def one(title):
    return f"<PubmedArticleSet>{RECORD.format(title)}</PubmedArticleSet>"


REFUSED = {
    **{name: (with_subset(each, RECORD.format("&l9;" if "l9" in each else "T."))) for name, each in SUBSETS.items()},
    "laughs in an attribute": with_subset(
        SUBSETS["billion laughs"], RECORD.format("T.").replace('Version="1"', 'Version="&l9;"')
    ),
    "a long prolog": f"<!-- {'x' * 1000} -->" * 30 + with_subset(SUBSETS["external entity"], RECORD.format("&l9;")),
    "an endless prolog": f"<!-- {'x' * 200_000} -->" + with_subset("", RECORD.format("T.")),
    "an entity that is not XML's own": one("a&nbsp;b"),
    "such an entity with a DTD": f'<!DOCTYPE PubmedArticleSet SYSTEM "https://example.org/p.dtd">{one("a&nbsp;b")}',
    "depth": one("<i>" * 5000 + "</i>" * 5000),
    "one text": one("x" * 11_000_000),
}
SAYS = {"a long prolog": "declares", "an endless prolog": "no root"} | dict.fromkeys(SUBSETS, "declares|broken")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_declared_expanded_or_without_bound_is_refused(name):
    with pytest.raises(NcbiUnreadable, match=SAYS.get(name)):
        read(REFUSED[name])


def test_a_doctype_in_a_comment_is_no_decoy():
    decoy = "<!-- <!DOCTYPE PubmedArticleSet> --><?x <!DOCTYPE y> ?>"
    with pytest.raises(NcbiUnreadable, match="declares"):
        read(decoy + with_subset(SUBSETS["one harmless entity"], RECORD.format("T.")))
    assert read(decoy + f"<!DOCTYPE PubmedArticleSet><PubmedArticleSet>{RECORD.format('T.')}</PubmedArticleSet>")


def test_xmls_five_entities_and_character_references_are_read():
    (article,) = read(one("&lt;&gt;&amp;&quot;&apos;&#956;&#x3b1;"))
    assert article.title == "<>&\"'μα"


def test_an_xinclude_and_a_stylesheet_are_left_alone():
    include = '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/hostname" parse="text"/>'
    (article,) = read(f'<?xml-stylesheet href="x"?>{one(f"a{include}b")}')
    assert article.title == "ab"


def test_cdata_and_comments_inside_text_lose_nothing():
    (article,) = read(one("a<!-- b --><![CDATA[ <c> ]]><?d e?>f"))
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

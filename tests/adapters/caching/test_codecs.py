"""What is kept comes back equal, whatever stands in it."""

import json
import zlib
from contextlib import suppress

import pytest

from bio_mcp.adapters import caching
from bio_mcp.adapters.caching import Unreadable, key_of
from bio_mcp.literature.documents import FullText, Licence, Table, TextSection
from bio_mcp.literature.records import Article, RetractionStatus
from bio_mcp.ports.ncbi import (
    ArticleIds,
    Citation,
    CitationMatch,
    DocSummary,
    EntrezDatabase,
    Link,
    LinkName,
    LinkSet,
    MeshPage,
    MeshRecord,
    SearchField,
    SearchPage,
    Spelling,
)

DATABASE = EntrezDatabase(
    "pubmed", "PubMed", "about", 1, "2025/06/25 07:12",
    (SearchField("ALL", "All", "d", False, False, True, None), SearchField("UID", "Id", "d", False, True, False, 3)),
    (LinkName("pubmed_pubmed", "Similar", "pubmed"),),
)  # fmt: skip
TABLE = Table("Table 1", "What", ("a | b", "1 | 2"), "note")
ARTICLE = FullText(
    "PMC7", "7", None, "A β", "J", Licence("CC BY 4.0"), (TextSection("Methods", 1, "We did.", (TABLE,)),), False, 3
)
ANSWERS = [
    (caching.RECORD, Article("7", title="A β", retraction=RetractionStatus.RETRACTED)),
    (caching.SUMMARY, DocSummary("7")),
    (caching.SUMMARY, DocSummary("7", authors=("Doe J", "Group"), volume="0", retraction=RetractionStatus.CONCERN)),
    (caching.LINKS, LinkSet("7", (Link("8", 3), Link("9")))),
    (caching.PAGE, SearchPage(0, (), "")),
    (caching.PAGE, SearchPage(12, ("1", "2"), "β [All]", ("warned",), "MCID_1", "1", ("dropped",))),
    (caching.SPELLING, Spelling("canser", "cancer")),
    (caching.SPELLING, Spelling("cancer", None)),
    (caching.DATABASE, DATABASE),
    (caching.MESH, MeshPage(1, (MeshRecord("D1", ("Fever", "Pyrexia"), trees=("C23",)),), "fever")),
    (caching.MATCH, CitationMatch(Citation("Lancet", "2020"), "7")),
    (caching.IDS, ArticleIds("7", None, "10.1/x")),
    (caching.FULL_TEXT, ARTICLE),
    (caching.TEXT, "PMID- 7\n\r\n\u2028é"),
]


@pytest.mark.parametrize(("codec", "answer"), ANSWERS, ids=lambda each: getattr(each, "name", ""))
def test_an_answer_comes_back_equal_for_its_own_article(codec, answer):
    assert codec.read(codec.dumps(answer), "7") == answer
    if codec.of(answer) is not None:
        with pytest.raises(Unreadable):
            codec.read(codec.dumps(answer), "70")


@pytest.mark.parametrize(("codec", "answer"), ANSWERS, ids=lambda each: getattr(each, "name", ""))
def test_no_byte_may_be_lost_or_changed(codec, answer):
    whole = codec.dumps(answer)
    for place in range(len(whole)):
        with pytest.raises(Unreadable):
            codec.read(whole[:place], "7")
        changed = whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :]
        with suppress(Unreadable):  # but for a bit of zlib's header that says nothing of the text
            assert codec.read(changed, "7") == answer


TYPED = {codec.name: codec for codec, _ in ANSWERS if codec not in (caching.RECORD, caching.TEXT)}.values()


@pytest.mark.parametrize("row", [[], {}, None, 7, "text", [[]], ["7"], ["7", []] * 20, [[], 1]])
@pytest.mark.parametrize("codec", TYPED, ids=lambda each: each.name)
def test_another_shape_is_unreadable(codec, row):
    if (codec, row) != (caching.IDS, {}):  # an article may have none of the ids
        with pytest.raises(Unreadable):
            codec.read(zlib.compress(json.dumps(row).encode()), "7")


def test_another_source_and_another_kind_have_other_keys():
    key = key_of("http://ncbi/", "record", "7")
    assert key == key_of("http://ncbi/", "record", "7")
    others = [
        key_of("http://mirror/", "record", "7"),
        key_of("http://ncbi/", "summary", "7"),
        key_of("http://ncbi/", "record", "8"),
        key_of("http://ncbi/", "record", ["7"]),
        key_of("http://ncbi/", "record", "half a surrogate \ud800"),
    ]
    assert len({key, *others}) == 1 + len(others)
    assert all(len(each) <= 200 for each in others)

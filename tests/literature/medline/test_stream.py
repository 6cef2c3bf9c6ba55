"""Whole files: what is yielded, in which order, in batches and one at a time, and what a broken one does."""

import gzip
import io
import lzma
import os
import tracemalloc

import pytest

from bio_mcp.errors import InvalidInput, NcbiUnreadable
from bio_mcp.literature.medline import newest, open_records, parse
from bio_mcp.literature.records import Article, Deletion
from tests.literature.medline.records import FIXTURES, wrapped

QUICK = gzip.decompress((FIXTURES / "quick600.dev.xml.gz").read_bytes())
DOCTYPE = b'<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle//EN" "%s://dtd.nlm.nih.gov/pubmed.dtd">'


def minimal(pmid="1", version="1", title="T."):
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="{version}">{pmid}</PMID>'
        f"<Article><ArticleTitle>{title}</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    ).encode()


def read(content):
    return list(parse(io.BytesIO(content)))


def collect(content, into):
    for record in parse(io.BytesIO(content)):
        into.append(record)


class Drip(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a slow connection does."""

    def __init__(self, content, step):
        self._content, self._step = io.BytesIO(content), step

    def read(self, _size=-1):
        return self._content.read(self._step)


def test_an_update_file_gives_its_articles_then_its_deletions_in_file_order():
    records = read(QUICK)
    assert [type(record) for record in records] == [Article] * 591 + [Deletion] * 14
    assert [record.pmid for record in records[-2:]] == ["34081395", "34096142"]


@pytest.mark.parametrize("step", [1, 7, 4096])
def test_the_size_of_the_pieces_changes_nothing(step):
    content = DOCTYPE % b"https" + wrapped(minimal("1"), minimal("2")).partition(b"?>")[2]
    assert list(parse(Drip(content, step))) == read(content)


@pytest.mark.parametrize("scheme", [b"http", b"https", b"file"])
def test_an_external_doctype_is_accepted_and_never_loaded(scheme):
    content = DOCTYPE % scheme + wrapped(minimal()).partition(b"?>")[2]
    assert [record.pmid for record in read(content)] == ["1"]


def test_an_empty_set_holds_no_records_and_one_bare_record_is_read_too():
    assert read(b"<PubmedArticleSet></PubmedArticleSet>") == []
    assert read(DOCTYPE % b"https" + b"<PubmedArticleSet/>") == []
    assert [record.pmid for record in read(minimal("7"))] == ["7"]


def test_every_version_of_a_pmid_is_yielded_and_newest_keeps_the_highest():
    records = read(wrapped(minimal("5", "2", "b"), minimal("5", "10", "c"), minimal("5", "1", "a"), minimal("6")))
    assert [(r.pmid, r.pmid_version) for r in records] == [("5", 2), ("5", 10), ("5", 1), ("6", 1)]
    assert {pmid: record.title for pmid, record in newest(records).items()} == {"5": "c", "6": "T."}
    assert newest(read(wrapped(minimal("5", "1", "old"), minimal("5", "1", "new"))))["5"].title == "new"


@pytest.mark.parametrize("deleted_first", [True, False])
def test_a_deletion_outranks_any_version(deleted_first):
    records = [Article("5"), Deletion("5"), Article("5", 2)] if deleted_first else [Article("5", 2), Deletion("5")]
    assert newest(records) == {"5": Deletion("5")}


@pytest.mark.parametrize("end", [200, 5_000, 400_000, len(QUICK) - 5])
def test_a_cut_file_yields_what_stands_whole_then_says_it_is_cut(end):
    got = []
    with pytest.raises(NcbiUnreadable, match="cut short"):
        collect(QUICK[:end], got)
    assert got == read(QUICK)[: len(got)]
    assert len(got) >= QUICK[:end].count(b"</PubmedArticle>") - 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  \n ",
        b'{"error":"API rate limit exceeded"}',
        b"<html><body>502 Bad Gateway</body></html>",
        b"<!DOCTYPE html><html></html>",
        b"<eSearchResult><ERROR>x</ERROR></eSearchResult>",
        b"<?xml version='1.0'?>",
        b"\x1f\x8b\x08\x00 not unpacked",
        b"<PubmedArticleSet><PubmedArticle></PubmedArticleSet>",
        b"<PubmedArticleSet>\xff\xfe</PubmedArticleSet>",
        b"<PubmedArticleSet/><PubmedArticleSet/>",
        wrapped(b"<PubmedArticle><MedlineCitation/></PubmedArticle>"),
        DOCTYPE % b"https",
    ],
)
def test_what_is_not_pubmed_xml_is_refused_with_a_sentence(content):
    with pytest.raises(NcbiUnreadable) as refused:
        read(content)
    message = str(refused.value)
    assert message.endswith(".")
    assert len(message) < 240
    assert not any(secret in message for secret in ("/", "<string>", "Traceback", "0x"))


def test_other_encodings_are_read_as_they_declare():
    text = wrapped(minimal(title="Löwe")).decode("utf-8").replace("<?xml version='1.0'?>", "")
    for encoding in ("utf-16", "iso-8859-1", "utf-8-sig"):
        declared = f"<?xml version='1.0' encoding='{encoding.removesuffix('-sig')}'?>{text}".encode(encoding)
        assert read(declared)[0].title == "Löwe"


def test_memory_stays_flat_however_long_the_file_is():
    class Endless(io.RawIOBase):
        def __init__(self):
            self.left = 400

        def read(self, _size=-1):
            self.left -= 1
            if self.left == 399:
                return b"<PubmedArticleSet>"
            return b"</PubmedArticleSet>" if self.left == 0 else minimal(title="x" * 20_000) * 4 * (self.left > 0)

    tracemalloc.start()
    count = sum(1 for _ in parse(Endless()))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 398 * 4
    assert peak < 4_000_000


ROOT = b"<PubmedArticleSet>"
UNPLAIN = b"<PubmedArticleSet one-at-a-time=''>"  # a root with an attribute is not read in batches


def record(pmid, title=b"T.", after=b""):
    return (
        b'\n<PubmedArticle><MedlineCitation><PMID Version="1">%d</PMID><Article><ArticleTitle>%b</ArticleTitle>'
        b"</Article></MedlineCitation>%b</PubmedArticle>" % (pmid, title, after)
    )


def outcome(content):
    """The records, and what the failure says if there was one."""
    got, failure = [], None
    try:
        collect(content, got)
    except NcbiUnreadable as error:
        failure = str(error)
    return got, failure


ENCODED = b'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE PubmedArticleSet SYSTEM "https://example.org/p.dtd">\n'
PLAIN = b"".join(map(record, range(1, 1001)))
BETWEEN = {
    "nothing": b"",
    "an end tag in a comment": b"<!-- </PubmedArticle> -->",
    "an end tag in CDATA": record(7000, b"a <![CDATA[</PubmedArticle>]]> b"),
    "an end tag in an instruction": b"<?x </PubmedArticle> ?>",
    "a record in a comment": b"<!--" + PLAIN * 2 + b"-->",
    "an end tag with a space": record(7000).replace(b"</PubmedArticle>", b"</PubmedArticle >"),
    "a record in a record": record(7000, after=record(7001)),
    "a record in something else": b"<Other>" + record(7000) + b"</Other>",
    "a book": b'<PubmedBookArticle><BookDocument><PMID Version="1">7</PMID></BookDocument></PubmedBookArticle>',
    "a deletion": b'<DeleteCitation><PMID Version="1">9</PMID></DeleteCitation>',
    "text": b"text &amp; text",
    "a prefix without a namespace": record(7000, b"<mml:math><mml:mi>x</mml:mi></mml:math>"),
    "a namespace": record(7000, b"<m:math xmlns:m='http://www.w3.org/1998/Math/MathML'><m:mi>x</m:mi></m:math>"),
    "a long record": record(7000, b"x" * 5_000_000),
    "an undefined entity": record(7000, b"a&nbsp;b"),
    "an undefined entity in an attribute": record(7000, b"<i x='&nbsp;'>a</i>"),
    "a second document type": b"<!DOCTYPE x [<!ENTITY nbsp 'x'>]>",
    "the end": b"</PubmedArticleSet>",
    "the end and another set": b"</PubmedArticleSet><PubmedArticleSet>",
    "another encoding": record(7000, b"L\xf6we"),
    "a bare ampersand": record(7000, b"a & b"),
    "a record that is cut": record(7000)[:-20],
    "a record without a PMID": b"<PubmedArticle><MedlineCitation/></PubmedArticle>",
    "deep nesting": record(7000, b"<i>" * 5000 + b"</i>" * 5000),
}


@pytest.mark.parametrize("opening", [b"", ENCODED], ids=["bare", "with a document type"])
@pytest.mark.parametrize("between", BETWEEN.values(), ids=BETWEEN)
def test_whatever_stands_between_records_gives_the_same_records_and_the_same_failure(opening, between):
    body = PLAIN + between + PLAIN + b"\n</PubmedArticleSet>"
    in_batches, one_at_a_time = outcome(opening + ROOT + body), outcome(opening + UNPLAIN + body)
    assert in_batches[0] == one_at_a_time[0]
    assert (in_batches[1] is None) == (one_at_a_time[1] is None)


def test_a_real_file_reads_the_same_in_batches_and_one_record_at_a_time():
    assert list(parse(io.BytesIO(QUICK))) == list(parse(io.BytesIO(QUICK.replace(ROOT, UNPLAIN, 1))))


@pytest.mark.parametrize("end", [5_000, 400_000, 800_123, len(QUICK) - 5])
def test_a_failure_is_reported_with_the_line_of_the_file(end):
    cut = QUICK[:end]
    assert outcome(cut) == outcome(cut.replace(ROOT, UNPLAIN, 1))


XML = ROOT + PLAIN + b"</PubmedArticleSet>"


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress], ids=["plain", "gzip", "xz"])
def test_a_file_is_unpacked_whatever_its_name_says(tmp_path, pack):
    path = tmp_path / "records.bin"
    path.write_bytes(pack(XML))
    assert [record.pmid for record in open_records(path)] == [str(n) for n in range(1, 1001)]


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gzip", "xz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "header only"])
def test_a_damaged_archive_is_reported_without_its_path(tmp_path, pack, damage):
    packed = bytearray(pack(XML))
    if damage == "cut":
        packed = packed[: len(packed) // 2]
    elif damage == "flipped":
        packed[len(packed) // 2] ^= 0xFF
    else:
        packed = packed[:12]
    path = tmp_path / "secret-name.gz"
    path.write_bytes(packed)
    with pytest.raises(NcbiUnreadable) as refused:
        list(open_records(path))
    assert "secret-name" not in str(refused.value)
    assert not refused.value.retryable or "Fetch" in str(refused.value)


@pytest.mark.parametrize("name", ["missing.xml", "."])
def test_a_file_that_cannot_be_read_is_the_callers_to_mend(tmp_path, name):
    with pytest.raises(InvalidInput) as refused:
        list(open_records(tmp_path / name))
    assert str(tmp_path) not in str(refused.value)


def test_a_pipe_is_refused_and_not_waited_for_and_an_empty_file_is_no_pubmed_xml(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidInput, match="readable file"):
        list(open_records(tmp_path / "pipe"))
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(NcbiUnreadable, match="empty"):
        list(open_records(tmp_path / "empty"))

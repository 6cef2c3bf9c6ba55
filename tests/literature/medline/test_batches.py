"""Records read many at a time are those that are read one at a time, whatever the file does between them."""

import gzip
import io

import pytest

from bio_mcp.literature.medline import parse
from tests.literature.medline.outcomes import ROOT, UNPLAIN, outcome, record
from tests.literature.medline.records import FIXTURES

QUICK = gzip.decompress((FIXTURES / "quick600.dev.xml.gz").read_bytes())
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

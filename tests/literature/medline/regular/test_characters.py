"""Characters that a text of XML may have, found without parsing it."""

import pytest

from bio_mcp.literature.medline.regular import Irregular
from bio_mcp.literature.medline.regular.characters import check_characters, without_instructions

BAD = {
    "a control": b"a\x01b",
    "NUL": b"a\x00b",
    "a carriage return": b"a\r\nb",
    "broken UTF-8": b"a\xffb",
    "a surrogate": b"\xed\xa0\x80",
    "no character": "\uffff".encode(),
    "no character either": "\ufffe".encode(),
    "an unknown entity": b"a&nbsp;b",
    "a bare ampersand": b"a & b",
    "a number": b"&#65;",
    "the end of CDATA": b"a]]>",
    "a comment": b"<!-- a -->",
    "CDATA": b"<![CDATA[a]]>",
}


@pytest.mark.parametrize("batch", BAD.values(), ids=BAD)
def test_what_no_text_has_or_what_is_more_than_text_is_irregular(batch):
    with pytest.raises(Irregular):
        check_characters(batch)


def test_line_breaks_are_counted():
    assert check_characters("a\n\tb &lt;&gt;&amp;&quot;&apos; ] ! ? é 漢 😀\n".encode()) == 2


def test_pubmeds_instructions_are_taken_out_of_text():
    assert without_instructions(b"<a>b?<?pmcsd ?>c<?nihms?></a><?d?>") == b"<a>b?c</a>"
    assert without_instructions(b'<a b="c?">d<?pmcsd ?></a>') == b'<a b="c?">d</a>'


OTHERS = {
    "in an attribute": b"<a b='<?c?>'/>",
    "in an attribute with a tag's end": b'<a b="><?c?>"/>',
    "a declaration": b"<a><?xml ?></a>",
    "with more than a name": b"<a><?b c?></a>",
    "without an end": b"<a><?b",
    "without a name": b"<a><??></a>",
    "before any tag": b"<?b?><a/>",
}


@pytest.mark.parametrize("batch", OTHERS.values(), ids=OTHERS)
def test_any_other_instruction_is_irregular(batch):
    with pytest.raises(Irregular):
        without_instructions(batch)

"""Characters that a text of XML may have, found without parsing it."""

import pytest

from bio_mcp.literature.medline.regular import Irregular
from bio_mcp.literature.medline.regular.characters import checked, without_instructions

BAD = {
    "a control": b"a\x01b",
    "NUL": b"a\x00b",
    "a carriage return": b"a\r\nb",
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
        checked(batch)


def test_line_breaks_are_counted():
    text = "a\n\tb &lt;&gt;&amp;&quot;&apos; ] ! ? é 漢 😀 （\n".encode()
    assert checked(text) == (text, 2)


def test_spaces_in_a_row_stand_after_a_line_break_or_a_tab():
    assert checked(b"<a>\n   b c  d\t  e\n\n  </a>    ") == (b"<a>\n   b c \nd\t  e\n\n  </a> \n  ", 3)


def test_spaces_in_a_row_beside_a_formula_are_irregular():
    assert checked(b"<math>a</math>\n  b") == (b"<math>a</math>\n  b", 1)
    with pytest.raises(Irregular):
        checked(b"<math>a  b</math>")


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

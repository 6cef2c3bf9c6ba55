"""Parts of a batch that are parsed alone and remembered."""

import pytest

from bio_mcp.literature.medline.regular import Irregular
from bio_mcp.literature.medline.regular.fragments import LONGEST, Remembered, content, fragment, listed, opened, usually


def test_what_recurs_is_read_once():
    read = []
    lengths = Remembered(lambda piece: read.append(piece) or len(piece))
    assert [lengths["abc"], lengths["abc"], lengths["d"]] == [3, 3, 1]
    assert read == ["abc", "d"]


def test_no_file_fills_the_memory_with_what_is_remembered():
    lengths = Remembered(len, most=10)
    for number in range(1000):
        assert lengths[str(number)] == len(str(number))
    assert lengths["x" * (LONGEST + 1)] == LONGEST + 1
    assert len(lengths) <= 10
    assert max(map(len, lengths)) <= LONGEST


ODD = {
    "open": b"<a>",
    "two": b"<a/><b/>",
    "text after": b"<a/>b",
    "text": b"a",
    "nothing": b"",
    "a prefix": b"<m:a/>",
    "an entity": b"<a>&nbsp;</a>",
    "an id": b"<a xml:id='b'/>",
    "a record": b"<a><PubmedArticle/></a>",
}


@pytest.mark.parametrize("xml", ODD.values(), ids=ODD)
def test_a_fragment_is_one_element_that_says_nothing_about_others(xml):
    with pytest.raises(Irregular):
        fragment(xml)


def test_a_fragment_cannot_nest_deeper_than_its_batch_may():
    assert fragment(b"<a>" * 250 + b"</a>" * 250).tag == "a"
    with pytest.raises(Irregular):
        fragment(b"<a>" * 251 + b"</a>" * 251)


def test_a_list_is_cut_at_the_mark_of_its_elements():
    names = listed("<a ", opened("<a ", lambda element: element.get("n")))
    assert names("\n <a n='1'>x</a>\n <a n='2'/>\n ") == ["1", "2"]
    assert names(" ") == []


@pytest.mark.parametrize(
    "inner",
    ["<b/><a n='1'/>", "<a n='1'/><b/>", "<a n='1'><a n='2'/></a>", "<a n='1'>"],
    ids=["another before", "another after", "one in another", "open"],
)
def test_a_list_of_anything_else_is_irregular(inner):
    with pytest.raises(Irregular):
        listed("<a ", opened("<a ", lambda element: element.get("n")))(inner)


def test_the_content_of_an_element_is_read_alone():
    tags = content(lambda element: [child.tag for child in element])
    assert tags("<a/>text<b/>") == ["a", "b"]
    with pytest.raises(Irregular):
        tags("</x><x>")


def test_only_what_is_irregular_is_read_the_other_way():
    def usual(piece):
        if piece.isdigit():
            return int(piece)
        raise Irregular

    assert [usually(usual, len)(piece) for piece in ("12", "abc")] == [12, 3]

"""What a child writes is bounded and checked: it has parsed a file that nobody trusts."""

import io
import json

import pytest

from bio_mcp.adapters.parsers.frames import Broken, document_from_json, document_to_json, line, read_line
from bio_mcp.literature.parsed import ParsedDocument, ParsedSection, SectionKind

DOCUMENT = ParsedDocument(
    (
        ParsedSection("ไทย\n\ntext", "Methods", ("Part", "Methods"), ((0, 3), (5, 4))),
        ParsedSection("a\tb", kind=SectionKind.TABLE),
    ),
    pages=9,
    ocr=True,
    confidence=0.5,
    language="th",
    title="T",
    doi="10.1000/x",
    pmid="1",
    warnings=("w",),
)


def test_a_document_comes_back_as_it_was():
    sent = line({"document": document_to_json(DOCUMENT)})
    assert sent.count(b"\n") == 1
    assert document_from_json(read_line(io.BytesIO(sent))["document"]) == DOCUMENT


@pytest.mark.parametrize("sent", [b"[1]\n", b"nonsense\n", b"[" * 100_000 + b"\n", b'{"a": "\xff"}\n', b"x" * 101])
def test_a_line_that_is_no_object_or_too_long_is_broken(sent):
    with pytest.raises(Broken):
        read_line(io.BytesIO(sent), longest=200_000 if sent.startswith(b"[[") else 100)


@pytest.mark.parametrize("sent", [b"", b'{"docu'])
def test_a_stream_that_ends_is_no_answer(sent):
    assert read_line(io.BytesIO(sent)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"sections": None},
        {"sections": [["text"]]},
        {"sections": [[1, None, [], [], "body"]]},
        {"sections": [["text", 5, [], [], "body"]]},
        {"sections": [["text", None, [1], [], "body"]]},
        {"sections": [["text", None, [], [["0", 1]], "body"]]},
        {"sections": [["text", None, [], [[0]], "body"]]},
        {"sections": [["text", None, [], [], "script"]]},
        {"pages": "9"},
        {"ocr": 1},
        {"warnings": [{}]},
        {"title": ["T"]},
    ],
)
def test_values_of_another_shape_are_broken(change):
    value = json.loads(json.dumps(document_to_json(DOCUMENT)))
    with pytest.raises(Broken):
        document_from_json({**value, **change})


@pytest.mark.parametrize("field", ["sections", "pages", "warnings"])
def test_a_missing_field_is_broken(field):
    value = document_to_json(DOCUMENT)
    del value[field]
    with pytest.raises(Broken):
        document_from_json(value)

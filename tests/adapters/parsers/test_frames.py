"""What a child writes is bounded and checked: it has parsed a file that nobody trusts."""

import io
import json
from dataclasses import asdict

import pytest

from bio_mcp.adapters.parsers.frames import Broken, document_from_json, line, read_line
from bio_mcp.literature.documents import ParsedDocument, ParsedSection, SectionKind

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
    sent = line({"document": asdict(DOCUMENT)})
    assert sent.count(b"\n") == 1
    assert document_from_json(read_line(io.BytesIO(sent))["document"]) == DOCUMENT


@pytest.mark.parametrize("sent", [b"[1]\n", b"nonsense\n", b"[" * 100_000 + b"\n", b'{"a": "\xff"}\n'])
def test_a_line_that_is_no_object_is_broken(sent):
    with pytest.raises(Broken):
        read_line(io.BytesIO(sent))


def test_a_line_without_end_is_read_as_far_as_one_may_be():
    class Endless(io.RawIOBase):
        def readline(self, size=-1):
            return b"x" * size

    with pytest.raises(Broken):
        read_line(Endless())


@pytest.mark.parametrize("sent", [b"", b'{"docu'])
def test_a_stream_that_ends_is_no_answer(sent):
    assert read_line(io.BytesIO(sent)) is None


SECTION = {"text": "text", "path": [], "page_starts": [], "kind": "body"}


@pytest.mark.parametrize(
    "change",
    [
        {"sections": None},
        {"sections": [{**SECTION, "text": 1}]},
        {"sections": [{**SECTION, "heading": 5}]},
        {"sections": [{**SECTION, "path": [1]}]},
        {"sections": [{**SECTION, "page_starts": [[0]]}]},
        {"sections": [{**SECTION, "kind": "script"}]},
        {"sections": [{}]},
        {"pages": "nine"},
        {"warnings": [{}]},
        {"title": ["T"]},
    ],
)
def test_values_of_another_shape_are_broken(change):
    value = json.loads(json.dumps(asdict(DOCUMENT)))
    with pytest.raises(Broken):
        document_from_json({**value, **change})

"""Files of nodes and edges, as anybody may send them."""

import gzip
import json
import os

import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.lines import LINE_BYTES
from bio_mcp.graph.nodes import Edge, Node
from bio_mcp.ingesting.graph_import import FILE_BYTES, read_items

HERB = b'{"node": "herb", "id": "H1", "names": {"th": "\xe0\xb8\x82\xe0\xb8\xb4\xe0\xb8\x87"}}'
DRUG = b'{"node": "drug", "id": "D1", "names": {"en": "A drug"}}'
EDGE = b'{"edge": "interacts_with", "from": "H1", "to": "D1", "sources": ["A book"]}'
ROW = {"chemical": "CURCUMIN", "plant_species": "Curcuma longa", "application": "Choleretic"}


@pytest.fixture
def read(tmp_path):
    def given(content):
        path = tmp_path / "file"
        path.write_bytes(content)
        return list(read_items(path))

    return given


def seen(items):
    """Each item by its line: an id, a key, or why it is refused."""
    return [(line, getattr(each, "node_id", None) or getattr(each, "key", None) or str(each)) for line, each in items]


LINES = [(1, "H1"), (2, "D1"), (4, ("H1", "interacts_with", "D1"))]


@pytest.mark.parametrize(
    "content",
    [
        b"\n".join([HERB, DRUG, b"", EDGE]),
        b"\n".join([HERB, DRUG, b" ", EDGE, b""]),
        b"\r\n".join([HERB, DRUG, b"", EDGE, b""]),
        b"\xef\xbb\xbf" + b"\n".join([HERB, DRUG, b"", EDGE]),
        gzip.compress(b"\n".join([HERB, DRUG, b"", EDGE])),
    ],
)
def test_json_lines_are_read_with_their_numbers(read, content):
    assert seen(read(content)) == LINES


def test_a_wrong_line_is_named_and_the_rest_is_read(read):
    found = seen(read(b"\n".join([HERB, b"{", b'{"node": "plant"}', DRUG])))
    assert [line for line, _ in found] == [1, 2, 3, 4]
    assert found[1][1].startswith("it is no JSON")
    assert found[2][1].startswith("'plant' is no node type")
    assert found[3] == (4, "D1")


def test_a_line_that_is_too_long_is_refused(read):
    long = b'{"node": "herb", "id": "H1", "names": {"en": "' + b"x" * LINE_BYTES + b'"}}'
    (_, (line, why), _) = seen(read(b"\n".join([HERB, long, DRUG])))
    assert (line, why) == (2, "it is longer than 256 KB")


def test_rows_of_duke_are_read_with_the_lines_that_they_begin_in(read):
    found = read(
        json.dumps([ROW, {**ROW, "plant_species": "Curcuma zanthorrhiza", "application": None}], indent=1).encode()
    )
    assert [line for line, _ in found] == [2] * 5 + [7] * 3
    assert [type(each) for _, each in found] == [Node, Node, Edge, Node, Edge, Node, Node, Edge]


@pytest.mark.parametrize(
    ("rows", "why"),
    [([7], "a row is an object"), ([ROW, {}], "plant_species: a name"), ([["x"]], "a row is an object")],
)
def test_a_row_that_is_none_is_named(read, rows, why):
    failures = [each for _, each in read(json.dumps(rows).encode()) if isinstance(each, InvalidInput)]
    assert [why in str(each) for each in failures] == [True]


@pytest.mark.parametrize("indent", [None, 1, 3])
def test_codes_are_read_however_they_are_laid_out(read, indent):
    codes = {f"A{n // 100:02}{n % 100:02}": [n % 2 == 0, f"Text {n}: {'é' * 40}"] for n in range(3)}
    found = read(json.dumps(codes, indent=indent, ensure_ascii=False).encode())
    assert [each.names["en"] for _, each in found] == [text for _, text in codes.values()]
    assert indent is None or [line for line, _ in found[:3]] == [2, 6, 10]


def test_a_code_that_is_none_is_named(read):
    found = seen(read(b'{"K30": "Dyspepsia",\n"x": "y",\n"R11": [true, 7]}'))
    assert found == [
        (1, "icd10cm:K30"),
        (2, "'x' is no code of ICD-10-CM, such as K30 or R11.2"),
        (3, "R11: a text, or a list of whether it can be billed and a text"),
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[" * 100_000, "Line 1: it is nested too deeply"),
        (json.dumps([ROW]).encode()[:-1], "Line 1: the file ends in the middle"),
        (json.dumps([ROW]).encode()[:-3], "Line 1: it is no JSON"),
        (b'[\n\n{"chemical": "\xff"}]', "it is not UTF-8"),
        (b'{"K30": "x", 7}', "Line 1: a key is expected"),
        (b'{"K30": ', "Line 1: it is no JSON"),
        (gzip.compress(HERB, mtime=0)[:-9], "The archive is damaged or cut short"),
        (b"\x1f\x8bno gzip", "The archive is damaged or cut short"),
    ],
)
def test_a_file_that_cannot_be_read_to_its_end_is_refused(read, content, why):
    with pytest.raises(InvalidInput, match=why):
        read(content)


def test_a_file_that_is_larger_unpacked_than_may_be_read_is_refused(read):
    with pytest.raises(InvalidInput, match="larger than 256 MB when it is unpacked"):
        read(gzip.compress(b" " * (FILE_BYTES + 1), compresslevel=1))


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "missing"):
        with pytest.raises(InvalidInput, match="The file cannot be read"):
            list(read_items(path))

"""What papers are found by beside their passages, as rows of the index: the words of their texts, their values in other
fields, days, participants and abbreviations. Each paper has a CRC-32 of its texts, which the full-text index over them
must have as they are.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any
from zlib import crc32

from bio_mcp.adapters.embedded.database import Connection
from bio_mcp.retrieval.passages import Entry
from bio_mcp.retrieval.pubmed_syntax import GAP, NOTHING, Field, PaperFields

TEXTS = ("title", "abstract", "keywords", "other", "names")  # of `PaperFields`
COLUMNS = ", ".join((*TEXTS, "vals"))
MOST_PARTICIPANTS = (1 << 31) - 1
LONGEST_WORD = 64  # letters of one that a misspelt word may stand for

_KEPT = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyz0123456789,;/.-:"))
_ESCAPED = {code: f"%{code:02x}" for code in range(128) if code not in _KEPT} | {ord(" "): "_"}
AS_BYTES = ", ".join(f"CAST({each} AS BLOB)" for each in (*TEXTS, "vals"))  # damaged text may not decode
_STORED = (
    f"SELECT value, fields.pmid, day, participants, crc, texts.pmid, {AS_BYTES} FROM json_each(?) "  # noqa: S608
    "LEFT JOIN fields ON fields.pmid = value LEFT JOIN texts ON texts.pmid = value"
)


NOT_LOOKED_UP = (
    "queries in PubMed's syntax, participants of studies, days of publication, other names and misspelt words are not "
    "looked up"
)


def without_fields(connection: Connection) -> int:
    """How many papers an earlier version wrote, so that no query, word or name finds them."""
    (papers,) = connection.execute("SELECT count(*) FROM without_fields").fetchone()
    return int(papers)


def value_token(field: Field, value: str) -> str:
    """The value of a field as one word of the column `vals`: of values that begin alike the words do, too."""
    return f"{field.value}={value.translate(_ESCAPED)}"


def fields_checksum(*row: Any) -> int:
    """CRC-32 of PMID, day, participants and six texts of a paper, as bytes or None. Files store the result, so it must
    never change."""
    pmid, day, participants, *texts = row
    crc = crc32(f"{pmid} {day} {participants}".encode())
    for text in texts:
        crc = crc32(b"\0" if text is None else text, crc)
    return crc


FIELD_TABLES = ("texts", "fields", "published", "abbreviations", "without_fields")
Texts = tuple[bytes | None, ...]


def write_fields(connection: Connection, entries: Mapping[int, Entry]) -> None:
    """Replace what these papers are found by, in the caller's transaction, which `connection.numbers` has begun."""
    stored, intact = _stored(connection, entries)
    wanted = {pmid: _texts_of(entry.fields) for pmid, entry in entries.items()}
    changed = [pmid for pmid, texts in wanted.items() if texts != stored.get(pmid, WITHOUT_TEXTS)]
    if intact:
        _unlist(connection, stored.keys() & changed)
    for table in ("published", "abbreviations"):
        connection.delete_among(table, "pmid", stored)
    connection.delete_among("texts", "pmid", stored.keys() & changed)
    connection.delete_among("without_fields", "pmid", entries)
    texts = [(pmid, *_decoded(wanted[pmid])) for pmid in changed if None not in wanted[pmid]]
    connection.executemany("INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)", texts)
    if intact:
        connection.executemany(f"INSERT INTO words (rowid, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", texts)  # noqa: S608
    else:
        connection.execute(REBUILD)
    words = chain.from_iterable(f"{title} {abstract}".split() for _, title, abstract, *_ in texts)
    connection.numbers.add_words(connection, {each for each in words if each != GAP and len(each) <= LONGEST_WORD})
    rows = [_row(pmid, entry, wanted[pmid]) for pmid, entry in entries.items()]
    connection.executemany("INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?)", rows)
    days = [(pmid, day.toordinal()) for pmid, entry in entries.items() for day in entry.fields.days]
    connection.executemany("INSERT INTO published VALUES (?, ?)", days)
    names = [(pmid, *pair) for pmid, entry in entries.items() for pair in dict.fromkeys(entry.abbreviations)]
    connection.executemany("INSERT INTO abbreviations VALUES (?, ?, ?)", names)


def delete_fields(connection: Connection, pmids: Sequence[int]) -> None:
    """Remove what these papers are found by, in the caller's transaction."""
    stored, intact = _stored(connection, pmids)
    if intact:
        _unlist(connection, stored)
    for table in FIELD_TABLES:
        connection.delete_among(table, "pmid", pmids)
    if not intact:
        connection.execute(REBUILD)


def clear_fields(connection: Connection) -> None:
    """Remove what all papers are found by. Words stay known, which no paper has then."""
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    for table in FIELD_TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  our own names


REBUILD = "INSERT INTO words (words) VALUES ('rebuild')"  # of the texts as they are stored
WITHOUT_TEXTS: tuple[None, ...] = (None,) * 6


def _stored(connection: Connection, pmids: Iterable[int]) -> tuple[dict[int, Texts], bool]:
    """The texts of those papers that have any or other fields, and whether all are as they were written: else the
    full-text index has words that no text has."""
    found, intact = dict[int, Texts](), True
    for pmid, known, day, participants, crc, listed, *texts in connection.execute(_STORED, (json.dumps(list(pmids)),)):
        if known is not None or listed is not None:
            found[pmid] = tuple(texts)
            intact = intact and is_intact_fields(pmid, day, participants, *texts, crc)
    return found, intact


def is_intact_fields(*row: Any) -> bool:
    """Whether a row with the columns of `fields_checksum`, and their checksum, is as it was written."""
    *columns, crc = row
    try:
        return bool(fields_checksum(*columns) == crc)
    except TypeError:  # a column has another type than it was given
        return False


def _unlist(connection: Connection, pmids: Iterable[int]) -> None:
    """Take papers out of the full-text index, which reads their texts for that."""
    connection.delete_among("words", "rowid", pmids)


def _row(pmid: int, entry: Entry, texts: Texts) -> tuple[int, int | None, int | None, int]:
    day = max(entry.fields.days).toordinal() if entry.fields.days else None
    participants = None if entry.participants is None else min(entry.participants, MOST_PARTICIPANTS)
    return pmid, day, participants, fields_checksum(pmid, day, participants, *texts)


def _decoded(texts: Texts) -> Iterator[str]:
    return (each.decode() for each in texts if each is not None)


def _texts_of(fields: PaperFields) -> Texts:
    if fields == NOTHING:
        return WITHOUT_TEXTS
    values = (value_token(field, value) for field, values in fields.values.items() for value in sorted(values))
    return tuple(text.encode() for text in (*(fields.texts.get(name, "") for name in TEXTS), " ".join(values)))

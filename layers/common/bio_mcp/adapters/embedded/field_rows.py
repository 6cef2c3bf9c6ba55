"""What papers are found by beside their passages, as rows of the index: the words of their texts, their values in other
fields, days, participants and abbreviations. Each paper has a CRC-32 of its texts, which the full-text index over them
must have as they are.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any
from zlib import compress, crc32, decompress

from bio_mcp.adapters.embedded.database import Connection
from bio_mcp.retrieval.passages import Entry
from bio_mcp.retrieval.pubmed_syntax import GAP, NOTHING, Field, PaperFields

TEXTS = ("title", "abstract", "keywords", "other", "names")  # of `PaperFields`
COLUMNS = ", ".join((*TEXTS, "vals"))
_LIST = f"INSERT INTO words (rowid, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  our own names
_EMPTY = "INSERT INTO words (words) VALUES ('delete-all')"
_UNLIST = f"INSERT INTO words (words, rowid, {COLUMNS}) VALUES ('delete', ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608  as above
MOST_PARTICIPANTS = (1 << 31) - 1
LONGEST_WORD = 64  # letters of one that a misspelt word may stand for

_KEPT = frozenset(map(ord, "abcdefghijklmnopqrstuvwxyz0123456789,;/.-:"))
_ESCAPED = {code: f"%{code:02x}" for code in range(128) if code not in _KEPT} | {ord(" "): "_"}
FIELDS = "fields.pmid, day, participants, CAST(packed AS BLOB), crc"  # a damaged value may be a text
_STORED = (
    f"SELECT value, {FIELDS} FROM json_each(?) LEFT JOIN fields ON fields.pmid = value "  # noqa: S608  our own names
    "LEFT JOIN texts ON texts.pmid = value"
)
_SEPARATOR = "\n"  # between texts, which have none


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
    """CRC-32 of PMID, day, participants and the packed texts of a paper, or None. Files store the result, so it must
    never change."""
    pmid, day, participants, packed = row
    return crc32(b"" if packed is None else packed, crc32(f"{pmid} {day} {participants}".encode()))


FIELD_TABLES = ("texts", "fields", "published", "abbreviations", "without_fields")
Texts = tuple[str, ...]


def write_fields(connection: Connection, entries: Mapping[int, Entry]) -> None:
    """Replace what these papers are found by, in the caller's transaction, which `connection.numbers` has begun."""
    stored, intact = _stored(connection, entries)
    wanted = {pmid: _texts_of(entry.fields) for pmid, entry in entries.items()}
    changed = [pmid for pmid, texts in wanted.items() if texts != stored.get(pmid, ())]
    if intact:
        _unlist(connection, {pmid: stored.get(pmid) for pmid in changed})
    for table in ("published", "abbreviations"):
        connection.delete_among(table, "pmid", stored)
    connection.delete_among("texts", "pmid", stored.keys() & changed)
    connection.delete_among("without_fields", "pmid", entries)
    packed = {pmid: _packed(texts) for pmid, texts in wanted.items()}
    texts = [(pmid, *wanted[pmid]) for pmid in changed if wanted[pmid]]
    rows_of_texts = [(pmid, packed[pmid]) for pmid in changed if wanted[pmid]]
    connection.executemany("INSERT INTO texts VALUES (?, ?)", rows_of_texts)
    words = chain.from_iterable(f"{title} {abstract}".split() for _, title, abstract, *_ in texts)
    connection.numbers.add_words(connection, {each for each in words if each != GAP and len(each) <= LONGEST_WORD})
    rows = [_row(pmid, entry, packed[pmid]) for pmid, entry in entries.items()]
    connection.executemany("INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?)", rows)
    if intact:
        connection.executemany(_LIST, texts)
    else:
        _rebuild(connection)
    days = [(pmid, day.toordinal()) for pmid, entry in entries.items() for day in set(entry.fields.days)]
    connection.executemany("INSERT INTO published VALUES (?, ?)", days)
    names = [(*pair, pmid) for pmid, entry in entries.items() for pair in dict.fromkeys(entry.abbreviations)]
    connection.executemany("INSERT INTO abbreviations VALUES (?, ?, ?)", names)


def delete_fields(connection: Connection, pmids: Sequence[int]) -> None:
    """Remove what these papers are found by, in the caller's transaction."""
    stored, intact = _stored(connection, pmids)
    if intact:
        _unlist(connection, stored)
    for table in FIELD_TABLES:
        connection.delete_among(table, "pmid", pmids)
    if not intact:
        _rebuild(connection)


def clear_fields(connection: Connection) -> None:
    """Remove what all papers are found by. Words stay known, which no paper has then."""
    connection.execute(_EMPTY)
    for table in FIELD_TABLES:
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  our own names


def _stored(connection: Connection, pmids: Iterable[int]) -> tuple[dict[int, Texts | None], bool]:
    """The texts of those papers that have any or other fields, None where they are damaged, and whether none are: else
    the full-text index may have words that no text has."""
    found, intact = dict[int, Texts | None](), True
    for pmid, known, day, participants, packed, crc in connection.execute(_STORED, (json.dumps(list(pmids)),)):
        if known is not None or packed is not None:
            is_intact = is_intact_fields(pmid, day, participants, packed, crc)
            found[pmid] = unpacked(packed) if is_intact else None
            intact = intact and is_intact
    return found, intact


def _rebuild(connection: Connection) -> None:
    """Make the full-text index anew of the texts as they are stored, but for those that are damaged."""
    connection.execute(_EMPTY)
    for row in connection.execute(f"SELECT {FIELDS} FROM fields JOIN texts USING (pmid)"):  # noqa: S608  our own names
        if is_intact_fields(*row) and (texts := unpacked(row[3])):
            connection.execute(_LIST, (row[0], *texts))


def is_intact_fields(*row: Any) -> bool:
    """Whether a row with the columns of `fields_checksum`, and their checksum, is as it was written."""
    *columns, crc = row
    try:
        return bool(fields_checksum(*columns) == crc)
    except TypeError:  # a column has another type than it was given
        return False


def _unlist(connection: Connection, stored: Mapping[int, Texts | None]) -> None:
    """Take papers out of the full-text index, which is told their texts for that."""
    connection.executemany(_UNLIST, [(pmid, *texts) for pmid, texts in stored.items() if texts])


def _row(pmid: int, entry: Entry, packed: bytes | None) -> tuple[int, int | None, int | None, int]:
    day = max(entry.fields.days).toordinal() if entry.fields.days else None
    participants = None if entry.participants is None else min(entry.participants, MOST_PARTICIPANTS)
    return pmid, day, participants, fields_checksum(pmid, day, participants, packed)


def _packed(texts: Texts) -> bytes | None:
    return compress(_SEPARATOR.join(texts).encode()) if texts else None


def unpacked(packed: bytes | None) -> Texts:
    """The texts of a paper, its values last; none of one that is found by nothing. Raises `zlib.error` for damage."""
    return () if packed is None else tuple(decompress(packed).decode().split(_SEPARATOR))


def _texts_of(fields: PaperFields) -> Texts:
    if fields == NOTHING:
        return ()
    values = (value_token(field, value) for field, values in fields.values.items() for value in sorted(values))
    return (*(fields.texts.get(name, "") for name in TEXTS), " ".join(values))

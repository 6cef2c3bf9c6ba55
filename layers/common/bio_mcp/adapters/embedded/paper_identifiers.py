"""Identifiers of the papers in the corpus file."""

import json
import sqlite3
from collections.abc import Mapping, Sequence

from bio_mcp.errors import StoreFailed
from bio_mcp.literature import serial
from bio_mcp.literature.paper_identifiers import normal_identifiers, paper_identifiers
from bio_mcp.literature.records import Article


def listed_identifiers(blob: bytes) -> str:
    """The identifiers of a stored article as a JSON list, for SQL; none of one that is damaged."""
    try:
        return json.dumps(normal_identifiers(*serial.fields_of(blob, "doi", "pmcid")))
    except StoreFailed:
        return "[]"


def write_identifiers(connection: sqlite3.Connection, articles: Mapping[int, Article]) -> None:
    """Replace what is stored of the identifiers of papers, given by PMID."""
    delete_identifiers(connection, list(articles))
    rows = sorted([(each, pmid) for pmid, article in articles.items() for each in paper_identifiers(article)])
    connection.executemany("INSERT INTO paper_identifiers VALUES (?, ?)", rows)


def delete_identifiers(connection: sqlite3.Connection, pmids: Sequence[int]) -> None:
    """Delete the identifiers of these papers."""
    listed = json.dumps(pmids)
    connection.execute("DELETE FROM paper_identifiers WHERE pmid IN (SELECT value FROM json_each(?))", (listed,))


def pmids_of(connection: sqlite3.Connection, identifiers: Sequence[str]) -> dict[str, str]:
    """Identifier -> the lowest PMID that has it."""
    rows = connection.execute(
        "SELECT identifier, min(pmid) FROM paper_identifiers WHERE identifier IN (SELECT value FROM json_each(?)) "
        "GROUP BY identifier",
        (json.dumps(list(identifiers)),),
    )
    return {identifier: str(pmid) for identifier, pmid in rows}

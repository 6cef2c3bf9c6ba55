"""Is the corpus file whole and of one mind?"""

from dataclasses import dataclass

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.index import dimension

FLOAT_BYTES = 4

ORPHANS = {
    "heads without an article": "SELECT count(*) FROM heads WHERE pmid NOT IN (SELECT pmid FROM articles)",
    "articles without a head": "SELECT count(*) FROM articles WHERE pmid NOT IN (SELECT pmid FROM heads)",
    "index entries without passages": "SELECT count(*) FROM entries WHERE pmid NOT IN (SELECT pmid FROM chunks)",
    "passages without an index entry": "SELECT count(*) FROM chunks WHERE pmid NOT IN (SELECT pmid FROM entries)",
    "index entries without vectors": "SELECT count(*) FROM entries WHERE pmid NOT IN (SELECT pmid FROM vectors)",
    "vectors without an index entry": "SELECT count(*) FROM vectors WHERE pmid NOT IN (SELECT pmid FROM entries)",
    "index entries marked as removed": "SELECT count(*) FROM entries WHERE pmid IN (SELECT pmid FROM removed)",
    "documents whose vectors do not fit their passages": (
        "SELECT count(*) FROM entries JOIN vectors USING (pmid) WHERE length(vectors) <> windows * :row"
    ),
    "documents whose words and their counts differ in number": (
        "SELECT count(*) FROM entries WHERE length(term_ids) <> 2 * length(frequencies)"
    ),
}
COUNTS = (
    "SELECT count(*), coalesce(sum(version > indexed_version OR pmid NOT IN (SELECT pmid FROM entries)), 0) FROM heads"
)


@dataclass(frozen=True, slots=True)
class Integrity:
    """`problems` are sentences, none when the file is whole. `waiting`: articles whose passages the next sync makes."""

    articles: int
    indexed: int
    chunks: int
    waiting: int
    problems: tuple[str, ...]


def check(database: Database) -> Integrity:
    """Look at every page and row of the corpus file. Raises `StoreFailed` where that cannot even be read."""
    with database.reading() as connection:
        torn = [str(row[0]) for row in connection.execute("PRAGMA quick_check(5)") if row[0] != "ok"]
        articles, waiting = connection.execute(COUNTS).fetchone()
        indexed, chunks = connection.execute("SELECT count(*), coalesce(sum(windows), 0) FROM entries").fetchone()
        row = {"row": dimension(connection) * FLOAT_BYTES}
        orphans = {
            name: connection.execute(sql, row if ":row" in sql else {}).fetchone()[0] for name, sql in ORPHANS.items()
        }
    problems = [*torn, *(f"{count} {name}" for name, count in orphans.items() if count)]
    return Integrity(articles, indexed, chunks, waiting, tuple(problems))

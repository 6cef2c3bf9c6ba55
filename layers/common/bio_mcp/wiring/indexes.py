"""The indexes of papers in corpus files."""

from contextlib import ExitStack
from typing import TYPE_CHECKING

from bio_mcp.health import Finding, examine

if TYPE_CHECKING:
    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.adapters.embedded.passage_indexes import SqliteIndexes
    from bio_mcp.adapters.embedded.passages import SqlitePassages


def corpus_indexes(database: "Database", opened: ExitStack) -> "SqliteIndexes":
    """The index in the corpus file, and those beside it, which `opened` closes."""
    from bio_mcp.adapters.embedded.passage_indexes import SqliteIndexes

    made = SqliteIndexes(database, passages_in)
    opened.callback(made.close)
    return made


def index_file_checks(database: "Database") -> list[Finding]:
    """Check the file that a start reads in place of the corpus file whose index is searched."""
    from bio_mcp.adapters.embedded import inspection

    def state() -> Finding:
        with ExitStack() as opened:
            return inspection.index_file(corpus_indexes(database, opened).searched_database())

    return [examine("index file", state)]


def passages_in(database: "Database", name: str = "") -> "SqlitePassages":
    """The passages that a corpus file has, as the index of that name, or as its own."""
    from bio_mcp.adapters.embedded.passages import SqlitePassages
    from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

    return SqlitePassages(database, k1=BM25_K1, b=BM25_B, name=name)

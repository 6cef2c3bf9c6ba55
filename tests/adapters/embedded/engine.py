"""The embedded engine with the product's BM25."""

from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.passages import SIZES, SqlitePassages
from bio_mcp.adapters.embedded.vector_search import Sizes
from bio_mcp.retrieval.ranking import BM25_B, BM25_K1


def passages_in(database: Database, sizes: Sizes = SIZES, name: str = "") -> SqlitePassages:
    return SqlitePassages(database, k1=BM25_K1, b=BM25_B, sizes=sizes, name=name)


def collections_in(database: Database) -> SqliteCollections:
    return SqliteCollections(database, k1=BM25_K1, b=BM25_B)

"""A process that writes batches until it is killed; a line on its output acknowledges each.

    python -m tests.adapters.embedded.writer DIRECTORY FIRST

Batch n holds the documents 10 n + 1 .. 10 n + 10, with the words all and b{n}.
"""

import sys
from pathlib import Path

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.literature.records import Article, Document
from tests.adapters.entries import DIM, entry

SIZE = 10


def pmids(batch):
    return [str(SIZE * batch + i) for i in range(1, SIZE + 1)]


def main(directory, first):
    database = Database(Path(directory))
    passages, documents = SqlitePassages(database), SqliteDocuments(database)
    passages.ensure_schema("m", DIM)
    for batch in range(int(first), 1_000_000):
        documents.put([Document(Article(pmid), "hash") for pmid in pmids(batch)])
        passages.upsert_chunks([entry(pmid, f"all b{batch}") for pmid in pmids(batch)])
        documents.mark_indexed(dict.fromkeys(pmids(batch), 1))
        print(batch, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

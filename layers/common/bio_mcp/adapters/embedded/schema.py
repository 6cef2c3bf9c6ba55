"""The tables of the corpus file, as steps from an empty file to today's.

A step, once released, never changes: `PRAGMA user_version` is `EARLIER` and the number of those that a file has been
through.

`heads` stands apart from `articles` so that asking what is known of 200 PMIDs reads small rows only. `entries`,
`chunks` and `vectors` have one row per document: a document is replaced in three writes, and the index is loaded
by three scans. `change` numbers the batch that wrote a row last, which is how a process that holds the index in
memory finds what another one has written; `removed` keeps the number of a deletion for the same reason, and the version
up to which passages are refused. `changes` gives each such number a random token: by it a copy of the index, in another
file, knows the corpus that it was made from. `checksums` has a CRC-32 of each document's row in the three tables of the
index. Terms and facets are numbered once and never renumbered.

`gone` has the tombstones of papers, also of those that came back since: versions go on, so theirs are below.

`texts` has, packed, the words of each paper as `pubmed_syntax.PaperFields` has them, and its values in other fields as
one more text; `words` is the full-text index over them, which keeps no copy. `fields` has the latest day of publication
and the participants, by which the index in memory sorts and filters, and a CRC-32 of both and the packed texts.
`published` has every day of publication. Days are counted from the year 1. `known_words` are those of titles and
abstracts that a paper has or had. `without_fields` lists papers that were written before there were these tables.

Each row of `collections` is the index of a project, with chunks, texts, vectors and words of its own, by its number,
which no other collection ever gets. `change` grows with each write to it, `terms` counts its words, and `build` names
the vectors that are searched; those of another model are written beside them, as another build. A chunk is never
changed, but replaced by one of another id.

A queued call is due at `due`, `waits` seconds after that was set, and a lease expires `seconds` after it was taken: one
that has longer left was written while the clock was ahead.

`found_papers` has the papers of each query key, `whole_queries` the keys of which it has all. `news` has what became
of them, by a position that sorts by the number of the write; `news_numbers` counts those of each key, also of one that
was forgotten. `read_news` has the position up to which each reader has read those of a key.

`indexes` names the index that is searched and the one beside it: "" is that of this file, another name that of a file
below the directory `indexes`. Without a row this file's is searched.

`paper_days` counts the papers that each day (UTC) brought.

`reviews` has the plan of each review, as JSON; `review_records`, `review_labels`, `review_searches` and `review_merges`
have what is screened for it, and `review_numbers` counts the writes to each.

`graph_names` has the folded names of nodes. The one row of `graph_revision` is a hash of all that was ever written to
the graph.
"""

from typing import Any
from zlib import crc32

APPLICATION_ID = 0x62696F31  # "bio1"; tells this file from any other SQLite database

EARLIER = 16  # schemas that no file has any more: the first step makes number 17
MIGRATIONS = (
    """
    CREATE TABLE heads (
        pmid INTEGER PRIMARY KEY, content_hash TEXT NOT NULL, version INTEGER NOT NULL,
        indexed_version INTEGER NOT NULL, pmid_version INTEGER NOT NULL, date_revised TEXT
    );
    CREATE TABLE articles (pmid INTEGER PRIMARY KEY, article BLOB NOT NULL);

    CREATE TABLE settings (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE entries (
        pmid INTEGER PRIMARY KEY, version INTEGER NOT NULL, change INTEGER NOT NULL,
        year INTEGER, journal TEXT, design INTEGER, journal_rank INTEGER, human INTEGER, retraction TEXT NOT NULL,
        length INTEGER NOT NULL, term_ids BLOB NOT NULL, frequencies BLOB NOT NULL, facet_ids BLOB NOT NULL,
        windows INTEGER NOT NULL, chunk_ids TEXT NOT NULL
    );
    CREATE INDEX entries_by_change ON entries (change);
    CREATE TABLE chunks (pmid INTEGER PRIMARY KEY, chunks TEXT NOT NULL);
    CREATE TABLE vectors (pmid INTEGER PRIMARY KEY, vectors BLOB NOT NULL);
    CREATE TABLE removed (pmid INTEGER PRIMARY KEY, change INTEGER NOT NULL);
    CREATE INDEX removed_by_change ON removed (change);
    CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE);
    CREATE TABLE facets (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (kind, value));

    CREATE TABLE checkpoints (
        query_key TEXT NOT NULL, last_edat TEXT, windows TEXT NOT NULL, term TEXT, UNIQUE (query_key, term)
    );
    CREATE TABLE jobs (
        job_id TEXT PRIMARY KEY, kind TEXT NOT NULL, state TEXT NOT NULL, query_key TEXT,
        created TEXT NOT NULL, updated TEXT NOT NULL,
        request TEXT NOT NULL, cursor TEXT NOT NULL, progress TEXT NOT NULL
    );
    CREATE INDEX jobs_by_query ON jobs (kind, query_key, created);
    CREATE TABLE leases (
        name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires REAL NOT NULL, process TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE continuations (
        id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, state TEXT NOT NULL, due REAL NOT NULL,
        attempts INTEGER NOT NULL, reason TEXT, process TEXT NOT NULL DEFAULT '', unanswered INTEGER NOT NULL DEFAULT 0
    );
    CREATE UNIQUE INDEX continuations_waiting ON continuations (event) WHERE state = 'waiting';
    CREATE INDEX continuations_due ON continuations (due) WHERE state <> 'dead';
    CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL,
        before TEXT NOT NULL, after TEXT NOT NULL, caller TEXT
    );
    CREATE TABLE changes (change INTEGER PRIMARY KEY, token TEXT NOT NULL);
    CREATE TABLE projects (
        project_id TEXT PRIMARY KEY, collection TEXT NOT NULL, embed_model TEXT NOT NULL,
        hybrid_enabled INTEGER NOT NULL, refs TEXT, top_k INTEGER NOT NULL DEFAULT 20,
        max_characters INTEGER NOT NULL DEFAULT 1800
    ) WITHOUT ROWID;
    CREATE TABLE checksums (
        pmid INTEGER PRIMARY KEY, entry_crc INTEGER NOT NULL, chunks_crc INTEGER NOT NULL, vectors_crc INTEGER NOT NULL
    );
    CREATE TABLE collections (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, build INTEGER NOT NULL,
        change INTEGER NOT NULL, terms INTEGER NOT NULL
    );
    CREATE TABLE collection_builds (
        id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, model TEXT NOT NULL, dim INTEGER NOT NULL
    );
    CREATE INDEX collection_builds_by_collection ON collection_builds (collection);
    CREATE TABLE collection_chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, chunk_id TEXT NOT NULL, doc_id TEXT NOT NULL,
        position INTEGER NOT NULL, sha256 TEXT NOT NULL, facets TEXT NOT NULL, section TEXT NOT NULL,
        length INTEGER NOT NULL, term_ids BLOB NOT NULL, frequencies BLOB NOT NULL, crc INTEGER NOT NULL,
        UNIQUE (collection, chunk_id)
    );
    CREATE INDEX collection_chunks_by_collection ON collection_chunks (collection);
    CREATE INDEX collection_chunks_by_document ON collection_chunks (collection, doc_id);
    CREATE TABLE collection_texts (id INTEGER PRIMARY KEY, chunk TEXT NOT NULL, crc INTEGER NOT NULL);
    CREATE TABLE collection_vectors (
        build INTEGER NOT NULL, id INTEGER NOT NULL, vector BLOB NOT NULL, crc INTEGER NOT NULL, PRIMARY KEY (build, id)
    ) WITHOUT ROWID;
    CREATE TABLE collection_terms (
        collection INTEGER NOT NULL, term TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (collection, term)
    ) WITHOUT ROWID;

    CREATE TABLE project_documents (
        project_id TEXT NOT NULL, doc_id TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (project_id, doc_id)
    ) WITHOUT ROWID;
    CREATE TABLE project_identifiers (
        project_id TEXT NOT NULL, identifier TEXT NOT NULL, doc_id TEXT NOT NULL, UNIQUE (project_id, identifier)
    );
    CREATE INDEX project_identifiers_by_document ON project_identifiers (project_id, doc_id);
    CREATE TABLE project_cursors (
        project_id TEXT NOT NULL, library TEXT NOT NULL, cursor TEXT NOT NULL, PRIMARY KEY (project_id, library)
    ) WITHOUT ROWID;
    CREATE TABLE paper_identifiers (
        identifier TEXT NOT NULL, pmid INTEGER NOT NULL, PRIMARY KEY (identifier, pmid)
    ) WITHOUT ROWID;
    CREATE INDEX paper_identifiers_by_pmid ON paper_identifiers (pmid);
    CREATE TABLE answers (
        answer_id TEXT PRIMARY KEY, question TEXT NOT NULL, text TEXT NOT NULL, spans TEXT NOT NULL,
        confidence REAL NOT NULL, asked TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX answers_by_time ON answers (asked);
    CREATE TABLE answer_papers (
        pmid INTEGER NOT NULL, answer_id TEXT NOT NULL, flagged INTEGER NOT NULL, PRIMARY KEY (pmid, answer_id)
    ) WITHOUT ROWID;
    CREATE INDEX answer_papers_by_answer ON answer_papers (answer_id);
    CREATE INDEX answer_papers_flagged ON answer_papers (answer_id) WHERE flagged;
    CREATE TABLE graph_nodes (node_id TEXT PRIMARY KEY, type TEXT NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE graph_names (
        name TEXT NOT NULL, node_id TEXT NOT NULL, PRIMARY KEY (name, node_id)
    ) WITHOUT ROWID;
    CREATE TABLE graph_edges (
        from_id TEXT NOT NULL, type TEXT NOT NULL, to_id TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY (from_id, type, to_id)
    ) WITHOUT ROWID;
    CREATE INDEX graph_edges_backwards ON graph_edges (to_id, type, from_id);
    CREATE TABLE graph_revision (revision TEXT NOT NULL);
    CREATE TABLE old_articles (
        pmid INTEGER NOT NULL, version INTEGER NOT NULL, content_hash TEXT NOT NULL, article BLOB NOT NULL,
        UNIQUE (pmid, version)
    );
    CREATE TABLE paper_days (
        day TEXT PRIMARY KEY, added INTEGER NOT NULL, revised INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX entries_by_year ON entries (year, design);
    CREATE INDEX jobs_by_time ON jobs (kind, created);
    CREATE TABLE found_papers (
        query_key TEXT NOT NULL, pmid INTEGER NOT NULL, PRIMARY KEY (query_key, pmid)
    ) WITHOUT ROWID;
    CREATE INDEX found_papers_by_pmid ON found_papers (pmid);
    CREATE TABLE whole_queries (query_key TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE news (
        query_key TEXT NOT NULL, position TEXT NOT NULL, kind TEXT NOT NULL, pmid INTEGER NOT NULL,
        version INTEGER NOT NULL, PRIMARY KEY (query_key, position), UNIQUE (query_key, pmid, kind, version)
    ) WITHOUT ROWID;
    CREATE TABLE review_records (
        review TEXT NOT NULL, record_id TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (review, record_id)
    );
    CREATE TABLE review_labels (
        review TEXT NOT NULL, record_id TEXT NOT NULL, stage TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (review, record_id, stage)
    ) WITHOUT ROWID;
    CREATE TABLE review_searches (
        review TEXT NOT NULL, search_id TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (review, search_id)
    );
    CREATE TABLE indexes (role TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
    """,
    """
    ALTER TABLE jobs ADD COLUMN number INTEGER;
    UPDATE jobs SET number = older.number FROM (
        SELECT job_id AS id, row_number() OVER (ORDER BY created, job_id) AS number FROM jobs
    ) AS older WHERE job_id = older.id;
    DROP INDEX jobs_by_query;
    DROP INDEX jobs_by_time;
    CREATE UNIQUE INDEX jobs_by_number ON jobs (number);
    CREATE INDEX jobs_by_query ON jobs (kind, query_key, number);
    CREATE INDEX jobs_by_kind ON jobs (kind, number);
    """,
    """
    CREATE TABLE texts (pmid INTEGER PRIMARY KEY, packed BLOB NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5 (
        title, abstract, keywords, other, names, vals, content = '', columnsize = 0,
        tokenize = "ascii tokenchars ',;/.-:%_=|'"
    );
    CREATE TABLE fields (pmid INTEGER PRIMARY KEY, day INTEGER, participants INTEGER, crc INTEGER NOT NULL);
    CREATE TABLE published (pmid INTEGER NOT NULL, day INTEGER NOT NULL, PRIMARY KEY (pmid, day)) WITHOUT ROWID;
    CREATE INDEX published_by_day ON published (day, pmid);
    CREATE TABLE abbreviations (
        short TEXT NOT NULL, long TEXT NOT NULL, pmid INTEGER NOT NULL, PRIMARY KEY (short, long, pmid)
    ) WITHOUT ROWID;
    CREATE INDEX abbreviations_by_long ON abbreviations (long, short, pmid);
    CREATE INDEX abbreviations_by_pmid ON abbreviations (pmid);
    CREATE TABLE known_words (word TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE without_fields (pmid INTEGER PRIMARY KEY);
    INSERT INTO without_fields SELECT pmid FROM entries;
    """,
    """
    ALTER TABLE continuations ADD COLUMN waits REAL NOT NULL DEFAULT 86400;
    ALTER TABLE leases ADD COLUMN seconds REAL NOT NULL DEFAULT 86400;
    ALTER TABLE answers ADD COLUMN number INTEGER;
    UPDATE answers SET number = older.number FROM (
        SELECT answer_id AS id, row_number() OVER (ORDER BY asked, answer_id) AS number FROM answers
    ) AS older WHERE answer_id = older.id;
    DROP INDEX answers_by_time;
    CREATE UNIQUE INDEX answers_by_number ON answers (number);
    CREATE TABLE news_numbers (query_key TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE review_numbers (review TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE gone (
        pmid INTEGER PRIMARY KEY, version INTEGER NOT NULL, pmid_version INTEGER NOT NULL, date_revised TEXT,
        place INTEGER NOT NULL, number INTEGER NOT NULL
    );
    CREATE INDEX gone_by_number ON gone (number);
    ALTER TABLE heads ADD COLUMN given INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE removed ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE leases ADD COLUMN number INTEGER NOT NULL DEFAULT 1;
    """,
    """
    CREATE TABLE reviews (review TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO reviews SELECT review, json_object('created', coalesce(
        (SELECT min(json_extract(body, '$.at')) FROM review_searches AS s WHERE s.review = r.review),
        '1970-01-01T00:00:00+00:00'
    )) FROM (SELECT DISTINCT review FROM review_records) AS r;
    CREATE TABLE review_merges (
        review TEXT NOT NULL, merge_id TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (review, merge_id)
    );
    ALTER TABLE review_labels RENAME TO older_labels;
    CREATE TABLE review_labels (
        review TEXT NOT NULL, record_id TEXT NOT NULL, stage TEXT NOT NULL, whose TEXT NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (review, record_id, stage, whose)
    ) WITHOUT ROWID;
    INSERT INTO review_labels SELECT review, record_id, stage, coalesce('by ' || json_extract(body, '$.caller'), ''),
        body FROM older_labels;
    DROP TABLE older_labels;
    ALTER TABLE answers ADD COLUMN notes TEXT NOT NULL DEFAULT '["", []]';
    CREATE TABLE read_news (
        query_key TEXT NOT NULL, reader TEXT NOT NULL, position TEXT NOT NULL, PRIMARY KEY (query_key, reader)
    ) WITHOUT ROWID;
    """,
)

# texts as bytes: damaged text may not decode
ENTRY = (
    "pmid, version, change, year, CAST(journal AS BLOB), design, journal_rank, human, CAST(retraction AS BLOB), "
    "length, term_ids, frequencies, facet_ids, windows, CAST(chunk_ids AS BLOB)"
)


def entry_checksum(*row: Any) -> int:
    """CRC-32 of a row with the columns in `ENTRY`. Files store the result, so it must never change."""
    pmid, version, change, year, journal, design, rank, human, retraction, length, *blobs = row
    terms, frequencies, facets, windows, chunk_ids = blobs
    numbers = f"{pmid} {version} {change} {year} {design} {rank} {human} {length} {windows}"
    crc = crc32(journal or b"", crc32(numbers.encode()))
    for blob in (retraction, terms, frequencies, facets, chunk_ids):
        crc = crc32(blob, crc)
    return crc

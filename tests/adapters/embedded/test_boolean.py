"""Queries in PubMed's syntax on one machine, beyond the suite of the port: older corpora, many matches, long ones."""

import random
from contextlib import closing
from itertools import islice

import numpy as np
import pytest

from bio_mcp.adapters.embedded.boolean import NESTED
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.integrity import check, searched_fields
from bio_mcp.adapters.embedded.passages import SqlitePassages
from bio_mcp.adapters.embedded.schema import EARLIER, MIGRATIONS
from bio_mcp.adapters.embedded.vector_search import Sizes
from bio_mcp.errors import IndexUnavailable
from bio_mcp.health import OK, WARN
from bio_mcp.literature.records import Article
from bio_mcp.retrieval.passages import Filters, PassageQuery
from bio_mcp.retrieval.pubmed_syntax import MOST_TERMS, And, Not, Or, fields_of, parsed
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import reindex
from tests.adapters.entries import entry, unit
from tests.doors.command_line import sample
from tests.support.cases import case
from tests.support.corpus import Corpus
from tests.support.reference_indexes import ReferencePassages

QUESTION = PassageQuery((("cell", 1.0),), None)
FIELDS = len(MIGRATIONS) - 3  # steps before the one that adds the fields of papers
ASKED = {
    "a query": lambda passages: passages.matching(Filters(tree=parsed("cell NOT mice")), 0),
    "a search by a query": lambda passages: passages.hybrid_search(
        PassageQuery(QUESTION.terms, None, Filters(tree=parsed("cell")))
    ),
    "participants": lambda passages: passages.matching(Filters(participants_min=1), 0),
    "the newest": lambda passages: passages.matching(Filters(), 5),
    "like words": lambda passages: passages.words_like("cels"),
    "other names": lambda passages: passages.other_names(["ci"]),
}


def make_earlier(home):
    """Take from the corpus file what it did not have before the fields of papers were stored."""
    with closing(Database(home)) as database, database.writing() as connection:
        connection.execute("DROP TABLE words")
        later = ("news_numbers", "review_numbers", "gone", "reviews", "review_merges", "review_labels", "read_news")
        for table in ("texts", "fields", "published", "abbreviations", "known_words", "without_fields", *later):
            connection.execute(f"DROP TABLE {table}")
        keyed = "review TEXT NOT NULL, record_id TEXT NOT NULL, stage TEXT NOT NULL, body TEXT NOT NULL"
        connection.execute(f"CREATE TABLE review_labels ({keyed}, PRIMARY KEY (review, record_id, stage))")
        connection.execute("DROP INDEX answers_by_number")
        connection.execute("CREATE INDEX answers_by_time ON answers (asked)")
        added = {
            "continuations": ["waits"],
            "leases": ["seconds", "number"],
            "answers": ["number", "notes"],
            "removed": ["version"],
            "heads": ["given"],
        }
        for table, columns in added.items():
            for column in columns:
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute(f"PRAGMA user_version = {EARLIER + FIELDS}")


def answers(corpus):
    return [ask(corpus.passages) for ask in ASKED.values()]


def test_a_corpus_of_an_earlier_version_misses_nothing_silently_and_is_carried_over_by_reindex(tmp_path):
    with Corpus(tmp_path) as corpus:
        apply_records(islice(sample(), 20), corpus)
        questioned, answered = corpus.passages.hybrid_search(QUESTION), answers(corpus)
        assert searched_fields(corpus.database).state == OK
    make_earlier(tmp_path)
    with Corpus(tmp_path) as corpus:
        assert corpus.passages.hybrid_search(QUESTION) == questioned
        assert corpus.passages.matching(Filters(), 0).total == 20
        apply_records(islice(sample(), 20, 25), corpus)
        for name, ask in ASKED.items():
            with case(name), pytest.raises(IndexUnavailable, match="bio-mcp admin reindex") as failure:
                ask(corpus.passages)
            assert not failure.value.retryable
        found = searched_fields(corpus.database)
        assert (found.state, found.found[:10], "admin reindex" in found.remedy) == (WARN, "20 papers ", True)
        assert check(corpus.database) == ()
        corpus.passages.delete([pmid for pmid, _ in islice(corpus.passages.versions(), 3)])
        assert searched_fields(corpus.database).found.startswith("17 papers ")
        pmids = [pmid for pmid, _ in corpus.passages.versions()]
        vectors = corpus.passages.chunk_vectors(pmids)
        reindex(corpus)
        for pmid, before in vectors.items():
            after = corpus.passages.chunk_vectors([pmid])[pmid]
            assert all(np.array_equal(after[text], each) for text, each in before.items())
        assert searched_fields(corpus.database).state == OK
        corpus.passages.delete([each.pmid for each in islice(sample(), 20, 25)])
        assert answers(corpus) == answered
        assert check(corpus.database) == ()
    with Corpus(tmp_path) as corpus:
        assert answers(corpus) == answered


@pytest.mark.parametrize("matches", [150, 1_400])
def test_few_matches_are_scored_exactly_and_of_many_the_best_are_found(tmp_path, matches):
    plain, draw = ReferencePassages(), random.Random(5)  # noqa: S311  the same each time
    fields = [fields_of(Article("1", title=title)) for title in ("Lung", "Heart")]
    entries = [
        entry(str(n), "x", dim=32, fields=fields[at >= matches])
        for at, n in enumerate(draw.sample(range(1, 4_000), 1_600))
    ]
    with closing(Database(tmp_path)) as database:
        passages = SqlitePassages(database, Sizes(exact=100))
        for each in (plain, passages):
            each.ensure_schema("m", 32)
            each.upsert_chunks(entries)
        for tree in (parsed("lung"), parsed("NOT heart")):
            query = PassageQuery((), unit(7, 32), Filters(tree=tree), 50)
            found = {each.pmid for each in passages.hybrid_search(query)}
            wanted = {each.pmid for each in plain.hybrid_search(query)}
            assert len(found & wanted) >= (50 if matches == 150 else 48)
            assert passages.matching(query.filters, 0).total == matches


def test_the_largest_queries_are_answered(tmp_path):
    """As many terms as a query may have, and brackets in each other around what an expression of FTS5 may have."""
    with closing(Database(tmp_path)) as database:
        passages = SqlitePassages(database)
        passages.ensure_schema("m", 8)
        passages.upsert_chunks([entry("1", "x", fields=fields_of(Article("1", title="Lung"))), entry("2", "x")])
        names = " OR ".join(f"a{n} b c d e f g h i[au]" for n in range(300))
        assert passages.matching(Filters(tree=parsed(names)), 1).total == 0
        assert passages.matching(Filters(tree=parsed(" OR ".join(["lung"] * MOST_TERMS))), 1).total == 1
        lung = parsed("lung")
        for depth in (*range(NESTED - 2, NESTED + 3), 60):
            for kinds in ((And, Or), (Or, And)):
                tree = other = lung
                for at in range(depth):
                    tree = kinds[at % 2]((tree, lung, lung))
                    other = kinds[at % 2]((lung, Not(Not(other))))
                for each in (tree, other, And((tree, Not(parsed("heart"))))):
                    assert passages.matching(Filters(tree=each), 9).pmids == ("1",)

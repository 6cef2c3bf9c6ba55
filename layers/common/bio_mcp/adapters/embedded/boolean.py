"""Queries in PubMed's syntax, asked of the words and values that the corpus file has of each paper, and words
that are like a word. `pubmed_syntax.matches` says which papers a query finds.

Terms with AND, OR and NOT between them are one expression of FTS5. What it cannot have (dates, NOT alone, too many
brackets in each other) is put together of the papers that its parts find.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable
from functools import reduce

import numpy as np
import orjson

from bio_mcp.adapters.embedded.field_rows import value_token
from bio_mcp.adapters.embedded.live_index import Papers
from bio_mcp.retrieval.pubmed_syntax import STORED_AS, TEXTS, And, Dates, Not, Or, Term, Tree, wanted
from bio_mcp.retrieval.spelling import edits

NESTED = 8  # operators in each other that an expression may have: the parser of FTS5 has room for some more


def papers_of(connection: sqlite3.Connection, tree: Tree) -> Papers:
    """The papers that a query finds."""
    if (expression := _expression(tree)) is not None:
        return _listed(connection, "SELECT json_group_array(rowid) FROM words WHERE words MATCH ?", expression)
    match tree:
        case Dates(low, high):
            days = low.toordinal(), high.toordinal()
            sql = "SELECT json_group_array(pmid) FROM published WHERE day BETWEEN ? AND ?"
            return Papers(np.unique(_listed(connection, sql, *days).pmids))
        case Not(part):
            return _others(papers_of(connection, part))
        case And(parts):
            return reduce(_in_both, [papers_of(connection, each) for each in _grouped(And, parts)])
        case Or(parts):
            others = (_others(papers_of(connection, each)) for each in _grouped(Or, parts))
            return _others(reduce(_in_both, others))
    raise TypeError(tree)


def number_of(connection: sqlite3.Connection, tree: Tree) -> int | None:
    """How many papers a query finds, where FTS5 has it as one expression, so that none needs to be listed."""
    if (expression := _expression(tree)) is None:
        return None
    [(papers,)] = connection.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,))
    return int(papers)


def _listed(connection: sqlite3.Connection, sql: str, *values: str | int) -> Papers:
    [(pmids,)] = connection.execute(sql, values)
    return Papers(np.array(orjson.loads(pmids), np.int64))


def _others(papers: Papers) -> Papers:
    return Papers(papers.pmids, without=not papers.without)


def _in_both(one: Papers, other: Papers) -> Papers:
    if one.without and other.without:
        return Papers(np.union1d(one.pmids, other.pmids), without=True)
    if one.without or other.without:
        these, but = (other, one) if one.without else (one, other)
        return Papers(np.setdiff1d(these.pmids, but.pmids, assume_unique=True))
    return Papers(np.intersect1d(one.pmids, other.pmids, assume_unique=True))


def _grouped(kind: type[And] | type[Or], parts: Collection[Tree]) -> Collection[Tree]:
    """The parts, those that FTS5 can join as one."""
    plain = tuple(each for each in parts if _expression(each) is not None)
    if not 1 < len(plain) < len(parts) or _expression(kind(plain)) is None:
        return parts
    return (kind(plain), *(each for each in parts if each not in plain))


def _expression(tree: Tree, nested: int = NESTED) -> str | None:
    """The tree as an expression of FTS5; None where it cannot be one."""
    match tree:
        case Term():
            return _term(tree)
        case Or(parts) if nested:
            return _joined(" OR ", parts, nested)
        case And(parts) if nested:
            those = _joined(" AND ", [each for each in parts if not isinstance(each, Not)], nested)
            if not any(isinstance(each, Not) for each in parts):
                return those
            without = _joined(" OR ", [each.part for each in parts if isinstance(each, Not)], nested)
            return None if those is None or without is None else f"({those} NOT {without})"
    return None


def _joined(operator: str, parts: Iterable[Tree], nested: int) -> str | None:
    expressions = [_expression(each, nested - 1) for each in parts]
    found = [each for each in expressions if each is not None]
    return f"({operator.join(found)})" if found and len(found) == len(expressions) else None


def _term(term: Term) -> str:
    if (texts := TEXTS.get(term.field)) is not None:
        return f"({{{' '.join(texts)}}} : {_quoted(' '.join(term.words))}{' *' * term.truncated})"
    values, prefixes = wanted(term)
    field = STORED_AS.get(term.field, term.field)
    tokens = [_quoted(value_token(field, each)) for each in sorted(values)]
    tokens += [f"{_quoted(value_token(field, each))} *" for each in prefixes]
    return f"(vals : ({' OR '.join(tokens)}))"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


SHORTER = 2  # letters that a like word has less or more, at most, and places in which it differs
MOST_COUNTED, MOST_LIKE = 1_000, 100  # like words whose papers are counted, the nearest, and that are returned
_LIKE = (
    "SELECT group_concat(word, char(10)) FROM known_words WHERE word BETWEEN ? AND ? AND length(word) BETWEEN ? AND ?"
)
_KNOWN = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
_COUNTED = (
    "SELECT word, (SELECT count(*) FROM ("
    "SELECT 1 FROM words WHERE words MATCH '{title abstract} : \"' || word || '\"' LIMIT 10000)) "
    "FROM known_words WHERE word IN (SELECT value FROM json_each(?))"
)


def words_like(connection: sqlite3.Connection, word: str) -> list[tuple[str, int]]:
    """As the port `Passages` has it. Looks at the words of the same first letter and about the same length."""
    if connection.execute(_KNOWN, (f"{{title abstract}} : {_quoted(word)}",)).fetchone():
        return [(word, 1)]
    lengths = len(word) - SHORTER, len(word) + SHORTER
    [(listed,)] = connection.execute(_LIKE, (word[:1], f"{word[:1]}\U0010ffff", *lengths))
    alike = _of_like_letters(word, listed) if word and listed else []
    near = sorted((edits(word, each, SHORTER), each) for each in alike)
    found = _counted(connection, [each for distance, each in near if distance <= SHORTER][:MOST_COUNTED])
    return sorted(found, key=lambda each: (-each[1], each[0]))[:MOST_LIKE]


def _of_like_letters(word: str, listed: str) -> list[str]:
    """Those of the words, listed line by line, that may be made of `word` by few edits: each adds, drops or exchanges
    one letter."""
    words = listed.split("\n")
    letters = np.frombuffer(f"{listed}\n".encode("utf-32-le"), np.uint32)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.append(0, ends[:-1] + 1)
    shared = np.zeros(len(words), np.int64)
    for letter in set(word):
        there = np.add.reduceat(letters == ord(letter), starts, dtype=np.int64)
        shared += np.minimum(there, word.count(letter))
    return [words[at] for at in np.flatnonzero(len(word) + ends - starts - 2 * shared <= 2 * SHORTER)]


def _counted(connection: sqlite3.Connection, words: Collection[str]) -> list[tuple[str, int]]:
    """Those of the words that papers have in title or abstract, with the number of papers."""
    rows = connection.execute(_COUNTED, (json.dumps(list(words)),))
    return [(word, papers) for word, papers in rows if papers]

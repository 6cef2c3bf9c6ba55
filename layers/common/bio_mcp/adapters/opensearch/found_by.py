"""What queries in PubMed's syntax find a paper by: its fields in OpenSearch, and queries that keep the rule of
`pubmed_syntax.matches` exactly.

A text is sent once and indexed for each tag that looks into it, so that a term is one clause, whatever its tag: a
query may have 1,024, and takes 500 terms. So are a person's initials, each beginning of them by itself. A phrase whose
last word is truncated has a clause a word, a truncated name several. Of texts and values there are postings alone: no
norms, no doc values.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from bio_mcp.retrieval.passages import Entry
from bio_mcp.retrieval.pubmed_syntax import (
    STORED_AS,
    TEXTS,
    And,
    Dates,
    Field,
    Not,
    Or,
    Term,
    Tree,
    wanted,
)

Body = dict[str, Any]

SPELLED = "words.spelled"  # title and abstract, for corrections
LONGEST_WORD = 100  # characters of a token: Lucene's whitespace tokenizer cuts at 255 of UTF-16
LONGEST = 1_000  # characters of a value that count, and of a regular expression or prefix: index.max_regex_length
LONGEST_GIVEN = 50  # characters of initials or fore names that a name without the others may have
EVERY = 2**31 - 1
AUTHORS = (Field.AUTHOR, Field.FIRST_AUTHOR, Field.LAST_AUTHOR)
LIKE = 100  # words that another may stand for
MOST_COUNTED = 10_000  # papers that have a word
LONGEST_NAME = 500  # characters of an abbreviation or of what it is short for
MOST_NAMES = 10_000  # pairs of names, of some that are asked for

_LONG = re.compile(rf"[^ ]{{{LONGEST_WORD + 1},}}")
_PIECE = re.compile(f".{{1,{LONGEST_WORD}}}")
_MARKS = re.compile(r"([^\w\s])")  # what a regular expression may read as an operator


def _text(**more: Any) -> Body:
    return {"type": "text", "analyzer": "whitespace", "norms": False, **more}


def _sent(name: str) -> Body:
    """The mapping of a text that is only copied: to the field of each tag."""
    copies = [f"words.{field.value}" for field, names in TEXTS.items() if name in names]
    return {"type": "text", "index": False, "copy_to": copies + [SPELLED] * (name in ("title", "abstract"))}


MAPPING: Body = {
    "words": {
        "properties": {
            **{name: _sent(name) for name in TEXTS[Field.ALL]},
            **{field.value: _text() for field in TEXTS},
            "spelled": _text(index_options="docs"),
        }
    },
    "values": {"type": "keyword", "doc_values": False},
    "days": {"type": "integer", "doc_values": False},
    "newest": {"type": "integer", "index": False},
    "participants": {"type": "long"},
    "names": {"type": "keyword"},
}
UNSTORED = ("words", "values", "days", "names")


def found_by(entry: Entry) -> Body:
    """Return what the document of `entry` has in the fields of `MAPPING`."""
    fields = entry.fields
    days = sorted(each.toordinal() for each in fields.days)
    both = {pair for each in entry.abbreviations for pair in (each, each[::-1])}
    return {
        "words": {name: _in_pieces(text) for name, text in fields.texts.items()},
        "values": sorted(
            {each for field, values in fields.values.items() for value in values for each in _values(field, value)}
        ),
        "days": days,
        "names": sorted(map("\t".join, both)),
        **({"newest": days[-1]} if days else {}),
        **({"participants": entry.participants} if entry.participants is not None else {}),
    }


def finding(tree: Tree) -> Body:
    """Query for the papers that the tree finds, and for windows, which are no papers."""
    match tree:
        case And(parts):
            without = [finding(each.part) for each in parts if isinstance(each, Not)]
            return {"bool": {"filter": [finding(e) for e in parts if not isinstance(e, Not)], "must_not": without}}
        case Or(parts):
            return {"bool": {"should": list(map(finding, parts)), "minimum_should_match": 1}}
        case Not(part):
            return {"bool": {"must_not": [finding(part)]}}
        case Dates(low, high):
            return {"range": {"days": {"gte": low.toordinal(), "lte": high.toordinal()}}}
        case Term():
            return _with_words(tree) if tree.field in TEXTS else _with_value(tree)
    raise TypeError(tree)


def _with_words(term: Term) -> Body:
    name, text = f"words.{term.field.value}", _in_pieces(" ".join(term.words))
    if " " not in text:
        return {"prefix" if term.truncated else "term": {name: text}}
    if term.truncated:
        return {"match_phrase_prefix": {name: {"query": text, "max_expansions": EVERY}}}
    return {"match_phrase": {name: text}}


def _with_value(term: Term) -> Body:
    field = STORED_AS.get(term.field, term.field)
    values, beginnings = ([_value(field, each) for each in sorted(some)] for some in wanted(term))
    if not term.truncated:
        return {"terms": {"values": values + [f"{each}*" for each in beginnings]}}
    return _any_of([{"prefix": {"values": each}} for each in beginnings])


def alike(word: str, *, suggest: bool) -> Body:
    """Say whether a paper has a word; with `suggest` name those near it, from its first letter on."""
    near = {"field": SPELLED, "analyzer": "keyword", "suggest_mode": "always", "size": LIKE, "shard_size": LIKE}
    bounds = {"max_edits": 2, "prefix_length": 1, "min_word_length": 1, "max_inspections": 20, "accuracy": 0.01}
    known = {"size": 0, "track_total_hits": 1, "query": {"term": {SPELLED: word}}}
    return known | ({"suggest": {"like": {"text": word, "term": near | bounds}}} if suggest else {})


def counting(words: Collection[str]) -> Body:
    """Count the papers that have each of some words: a suggester counts deleted ones too."""
    each = {"filters": {word: {"term": {SPELLED: word}} for word in words}}
    return {"size": 0, "aggs": {"words": {"filters": each}}}


def defining(names: Collection[str]) -> Body:
    """Count the papers by what else they call each of some names."""
    patterns = [f"({each})\t.*" for each in _alternatives(map(_literal, sorted(names)))]
    counts = {
        f"names {at}": {"terms": {"field": "names", "include": each, "size": MOST_NAMES, "execution_hint": "map"}}
        for at, each in enumerate(patterns)
    }
    return {"size": 0, "query": _any_of([_like("names", each) for each in patterns]), "aggs": counts}


def _alternatives(literals: Iterable[str]) -> Iterator[str]:
    """Yield the texts with | between, as many at once as a regular expression may have; no paper has a longer one."""
    some = ""
    for each in literals:
        if len(some) + len(each) > LONGEST - len("|()\t.*"):
            yield some
            some = ""
        if len(each) <= LONGEST_NAME:
            some = f"{some}|{each}" if some else each
    yield some


def _any_of(queries: list[Body]) -> Body:
    return {"bool": {"should": queries, "minimum_should_match": 1}}


def _like(name: str, pattern: str) -> Body:
    return {"regexp": {name: {"value": pattern, "flags": "NONE"}}}


def _values(field: Field, value: str) -> Iterator[str]:
    """What stands for a value: itself and, with a * behind it, each beginning that a person may be asked for by."""
    yield _value(field, value)
    mark = re.search("[,;]", value) if field in AUTHORS else None
    if mark:
        for end in range(mark.end(), min(mark.end() + LONGEST_GIVEN, len(value)) + 1):
            if mark[0] == "," or value[end - 1] == " ":
                yield f"{_value(field, value[:end])}*"


def _value(field: Field, text: str) -> str:
    return f"{field.value}:{text}"[:LONGEST]


def _literal(text: str) -> str:
    return _MARKS.sub(r"\\\1", text)


def _in_pieces(text: str) -> str:
    """The text with each word that is too long for a token in several: a + stands where one goes on."""
    return _LONG.sub(lambda word: "+ +".join(_PIECE.findall(word[0])), text)

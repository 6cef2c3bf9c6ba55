"""Attempts to read what is in another project, by whatever a client or a mistake might send, for every engine.

`VICTIM` is the collection that is attacked from `MINE`, with documents and chunks of the same ids. Every chunk of it
has the word `SECRET`, which nothing else has.
"""

import random
from dataclasses import replace
from itertools import product
from urllib.parse import quote

from bio_mcp.errors import NotFound
from bio_mcp.retrieval.project_chunks import ChunkFilters, ChunkQuery, collection_name
from tests.adapters.chunks import chunk, document, store, vectors
from tests.adapters.entries import DIM, unit

PROJECT = "lab/heart-failure"
VICTIM, MINE = collection_name(PROJECT), collection_name("lab-heart/failure")
SECRET = "quetzal"
WORK = {"citekey": "doe2020", "year": 2020, "authors": ("Doe J",), "tags": ("heart", "secret"), "doi": "10.1/x"}
QUERY = ChunkQuery(((SECRET, 1.0), ("text", 1.0)), unit(1))

NAMES = (
    f'{VICTIM}"', f"{VICTIM}'", f"' OR name = '{VICTIM}", f"x' OR name LIKE '{VICTIM}'--",
    f"{VICTIM}*", "proj-*", "*", "proj-lab?heart-failure", "_all", "", ".", "..", f"./{VICTIM}", f"../{VICTIM}",
    f"x/../{VICTIM}", f"{VICTIM}/", f"/{VICTIM}", f"{VICTIM},{MINE}", f"{MINE},{VICTIM}", f"-{MINE}", f"+{VICTIM}",
    f"{VICTIM}/_search", f"{VICTIM}?q=*", f"{VICTIM}#", quote(f"../{VICTIM}", safe=""), VICTIM.replace("h", "%68"),
    f"<{VICTIM}-{{now/d}}>", f"{VICTIM}\x00", f"{VICTIM}\n", f" {VICTIM}", f"{VICTIM} ", VICTIM.upper(), VICTIM.title(),
    VICTIM.replace("a", "а"), VICTIM.replace("e", "е"), VICTIM.replace("-", "‐"), VICTIM.replace("f", "ｆ"),
    VICTIM.replace("f", "𝐟"), f"{VICTIM}\u200b", f"\u202e{VICTIM[::-1]}", VICTIM.replace("i", "ı"), VICTIM[:-1],
    f"{VICTIM}e", f"{VICTIM}-000001", f"{VICTIM}%", "%", "_", "proj-lab_heart-failure", f"{{'name': '{VICTIM}'}}",
    f'{{"match_all": {{}}}} {VICTIM}', "1", "null", "x" * 300,
)  # fmt: skip
"""Names of no collection that is there."""
VALUES = (*NAMES, VICTIM, PROJECT, "d1", "d1-0", "secret", "doe2020", "Doe J", "part i", SECRET)


def fill(collections):
    """Fill both collections; returns what the attacked one holds."""
    for name in (VICTIM, MINE):
        collections.create(name, "m", DIM)
    secrets = [
        document(f"d{n}", f"{SECRET} text {n}", f"{SECRET} more", work=WORK, section_path=("Part I",)) for n in range(3)
    ]
    store(collections, VICTIM, *secrets)
    store(collections, MINE, *(document(f"d{n}", f"plain text {n}", "more", work=WORK) for n in range(3)))
    return state(collections)


def state(collections):
    """All that the attacked collection holds, and how a search of it is scored."""
    found = {match.chunk.chunk_id: (match.bm25, match.sim) for match in collections.search(VICTIM, QUERY)}
    return collections.sample(VICTIM, 100), collections.count(VICTIM), collections.model(VICTIM), found


def leaked(chunks):
    return [each for each in chunks if SECRET in each.text]


def filters_with(value):
    one = frozenset({value})
    yield from (ChunkFilters(tags=one), ChunkFilters(citekeys=one), ChunkFilters(authors=one))
    yield from (ChunkFilters(doc_ids=one), ChunkFilters(section_prefix=value))


def _finding(filters, value=SECRET):
    query = replace(QUERY, filters=filters, terms=(*QUERY.terms, (value, 1.0)))
    return lambda collections: [match.chunk for match in collections.search(MINE, query)]


def _refused(write):
    """The write must say that there is no such collection; what it gives back is nothing."""

    def attempt(collections):
        try:
            write(collections)
        except NotFound:
            return []
        raise AssertionError("a write to no collection went through")

    return attempt


def reads():
    """Searches and reads of `MINE` that name what is another's."""
    for value in VALUES:
        yield from (_finding(filters, value) for filters in filters_with(value))
        yield lambda collections, value=value: collections.document(MINE, value)
        yield lambda collections, value=value: [chunk(each) for each in collections.hashes(MINE, f"{value}/d1")]
    rng = random.Random(3)  # noqa: S311  the same ones each time
    for first, second in product(range(12), repeat=2):
        some = ChunkFilters(
            tags=frozenset(rng.sample(["secret", "heart", *NAMES], 1 + first % 2)),
            doc_ids=frozenset(rng.sample(["d1", "d2", *VALUES], 1 + second % 3)),
            year_from=rng.choice([None, 2020]),
            section_prefix=rng.choice([None, "Part", *NAMES]),
        )
        yield _finding(some, rng.choice(VALUES))


def reads_of_no_collection():
    """Whatever is asked of a name of no collection; there is nothing in it."""
    for name in NAMES:
        yield lambda collections, name=name: [match.chunk for match in collections.search(name, QUERY)]
        yield lambda collections, name=name: collections.document(name, "d1")
        yield lambda collections, name=name: collections.sample(name, 5)
        yield lambda collections, name=name: [chunk(each) for each in collections.hashes(name, "d1")]
        yield lambda collections, name=name: [chunk("x")] * (collections.count(name) + bool(collections.model(name)))


def writes_to_no_collection():
    """Writes that name no collection, each of which must be refused, and no collection dropped."""
    [mine] = chunks = document("d1", "mine")
    for name in NAMES:
        yield _refused(lambda collections, name=name: collections.replace(name, "d1", [], {}))
        yield _refused(lambda collections, name=name: collections.upsert(name, chunks, vectors([mine])))
        yield _refused(lambda collections, name=name: collections.rebuild(name, "n", DIM, lambda texts: texts))
        yield lambda collections, name=name: [chunk("x")] * collections.drop(name)


def writes_beside():
    """Writes to `MINE` of ids, works and metadata that are the other's, or try to be."""
    for value in VALUES:
        claims = chunk("d1-0", "mine", "d1", work={**WORK, "source": value}, metadata={"project": PROJECT, "to": value})
        yield lambda collections, one=claims: collections.upsert(MINE, [one], vectors([one])) or []
        yield lambda collections, value=value: collections.replace(MINE, f"{value}/d2", [], {}) or []


def attempts():
    """Every attempt: given the collections, it returns the chunks that it got hold of."""
    for kind in (reads, reads_of_no_collection, writes_to_no_collection, writes_beside):
        yield from kind()

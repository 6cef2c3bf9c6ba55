"""Files that are applied in any order leave what they leave one after the other."""

from collections import Counter
from datetime import date
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.literature.medline import OddRecord
from bio_mcp.literature.records import Article, Deletion, Head
from bio_mcp.syncing.applying import Origin, Withdrawn, revise
from bio_mcp.syncing.bulk_load import left_out, listing_of

PMIDS = ["7", "38000001", "999999999"]
DAYS = [date(2025, 12, 1), date(2026, 1, 5), date(2026, 1, 6)]
articles = st.builds(
    Article,
    pmid=st.sampled_from(PMIDS),
    title=st.sampled_from(["One", "Two", "Three"]),
    pmid_version=st.integers(1, 2),
    date_revised=st.sampled_from(DAYS),
)
deletions = st.builds(Deletion, st.sampled_from(PMIDS), st.sampled_from([None, 1, 2]))
records = st.one_of(articles, deletions, st.just(OddRecord("odd")))
histories = st.lists(st.lists(records, max_size=4), min_size=1, max_size=3)


def apply(record, corpus, gone, origin):
    """Bring one record into a corpus of PMID -> article and head, as a sync compares it."""
    if isinstance(record, OddRecord):
        return
    pmid = record.pmid
    _, head = corpus.get(pmid, (None, None))
    if isinstance(record, Deletion):
        if left := Withdrawn(record).tombstone(head, gone.get(pmid), origin):
            corpus.pop(pmid, None)
            gone[pmid] = left
    elif document := revise(record, head, gone.get(pmid), origin)[1]:
        made = Head(document.content_hash, document.version, document.version, record.pmid_version, record.date_revised)
        corpus[pmid] = (record, made)


def standing(corpus):
    return {pmid: (head.content_hash, head.pmid_version, head.date_revised) for pmid, (_, head) in corpus.items()}


def one_after_the_other(files):
    corpus, gone = {}, {}
    for place, file in enumerate(files, 1):
        for record in file:
            apply(record, corpus, gone, Origin(place))
    return standing(corpus)


def planned(files, most=100):
    """The records of each file that are applied."""
    listings = {str(number): listing_of(file) for number, file in enumerate(files)}
    superseded = left_out(list(listings), listings.__getitem__, listings, most=most)
    return [
        [record for at, record in enumerate(file) if at not in superseded[str(number)]]
        for number, file in enumerate(files)
    ]


@settings(max_examples=40, deadline=None)
@given(histories, st.sampled_from([1, 3, 100]))
def test_every_order_of_the_files_leaves_what_their_own_order_leaves_and_no_two_write_one_paper(files, most):
    applied = planned(files, most)
    written = [record.pmid for file in applied for record in file if not isinstance(record, OddRecord)]
    assert len(written) == len(set(written))
    expected = one_after_the_other(files)
    assert all(one_after_the_other(order) == expected for order in permutations(applied))


def test_a_file_that_is_not_wanted_still_counts():
    listings = {"old": listing_of([Article("1", pmid_version=2)]), "new": listing_of([Article("2"), Article("1")])}
    superseded = left_out(list(listings), listings.__getitem__, {"new"})
    assert {name: list(positions) for name, positions in superseded.items()} == {"new": [1]}


def test_a_file_is_read_again_for_its_own_pmids_alone():
    listings = {f"{number}": listing_of([Article(f"{number}00000")]) for number in range(1, 9)}
    read = Counter()

    def reading(name):
        read[name] += 1
        return listings[name]

    left_out(list(listings), reading, listings, most=1)
    assert set(read.values()) == {2}

"""Every edge category keeps what its name promises, over committed and shared records."""

from tests.cases import case
from tests.literature.medline.edges import promise
from tests.literature.medline.records import FIXTURE_EDGES, SHARED_EDGES, element, parsed, raw_edges

CATEGORIES = sorted({*FIXTURE_EDGES, *SHARED_EDGES})


def test_the_committed_fixtures_cover_every_category():
    assert len(FIXTURE_EDGES) >= 169
    assert set(SHARED_EDGES) <= set(FIXTURE_EDGES)


def test_a_record_keeps_what_its_category_promises():
    for category in CATEGORIES:
        with case(category):
            check_category(category)


def check_category(category):
    raws = raw_edges(category)
    assert raws
    check = promise(category)
    stored = [check(parsed(raw), element(raw)) for raw in raws]
    # Versions of one PMID are indexed together, and only some of them need have the feature.
    assert all(stored) or (category == "version_gt_1" and any(stored))

"""A sync of more records than PubMed lists of a search."""

from datetime import date

from bio_mcp.deadline import NEVER
from bio_mcp.syncing.delta import sync_delta
from tests.support.corpus import Corpus


def short(ncbi):
    """Records without an abstract: cheap to copy by the thousand."""
    return [pmid for pmid in ncbi.control.pmids()[:80] if "<Abstract>" not in ncbi.control.record(pmid)]


def test_a_window_over_the_cap_and_a_day_over_it_are_cut_and_read_whole(tmp_path, ncbi):
    """PubMed lists 9,999 records of a search and no more: 10,101 in the window, 10,050 of them on one day."""
    on_one_day = ncbi.control.clone(10_050, "2025/11/11", sources=short(ncbi))
    others = ncbi.control.clone(51, ["2025/11/03", "2025/11/20"], first=95_000_001, sources=short(ncbi))
    wanted = [str(pmid) for pmid in (*on_one_day, *others)]
    ncbi.control.set_today("2026/01/01")
    with Corpus(tmp_path, ncbi.base_url, date(2026, 1, 1)) as corpus:
        report = sync_delta("k", '"2025/11/01"[crdt] : "2025/11/30"[crdt]', 5, corpus, NEVER, lambda *_: None)
        assert (report.inserted, report.state) == (10_101, "complete")
        assert corpus.documents.heads(wanted).keys() == set(wanted)

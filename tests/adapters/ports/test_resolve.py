"""Papers by their DOI and PMCID, of the port `Documents`."""

from bio_mcp.literature.records import Article, Document
from tests.syncing.stored import gone


def paper(pmid, doi=None, pmcid=None, version=1):
    return Document(Article(str(pmid), doi=doi, pmcid=pmcid), f"hash{version}", version)


def test_a_paper_is_found_by_what_it_is_known_by(documents):
    documents.put([paper(7, "10.1000/ABC.(1)", "PMC77"), paper(8, "10.1000/other"), paper(9)])
    wanted = {"doi:10.1000/abc.(1)": "7", "pmcid:PMC77": "7", "doi:10.1000/other": "8"}
    assert documents.resolve([*wanted, "doi:10.1000/none", "pmcid:PMC7"]) == wanted
    assert documents.resolve([]) == {}


def test_what_a_record_gives_that_is_no_doi_is_left_out(documents):
    documents.put([paper(7, "see journal", "PMC0")])
    assert documents.resolve(["doi:see journal", "pmcid:PMC0"]) == {}


def test_what_is_no_identifier_is_not_found(documents):
    documents.put([paper(7, "10.1000/abc")])
    for text in ("", "doi:", "10.1000/abc", "doi:%", "doi:10.1000/abc' OR '1'='1", "DOI:10.1000/abc", "7"):
        assert documents.resolve([text]) == {}


def test_of_papers_that_share_an_identifier_the_lowest_pmid_counts(documents):
    documents.put([paper(10, "10.1000/abc"), paper(9, "10.1000/abc"), paper(100, "10.1000/abc")])
    assert documents.resolve(["doi:10.1000/abc"]) == {"doi:10.1000/abc": "9"}
    documents.delete(gone("9"))
    assert documents.resolve(["doi:10.1000/abc"]) == {"doi:10.1000/abc": "10"}


def test_a_corrected_doi_takes_the_place_of_the_old_one(documents):
    documents.put([paper(7, "10.1000/typo")])
    documents.put([paper(7, "10.1000/right", version=2)])
    documents.put([paper(7, "10.1000/typo", version=1)])
    assert documents.resolve(["doi:10.1000/typo", "doi:10.1000/right"]) == {"doi:10.1000/right": "7"}


def test_a_deleted_paper_is_not_found_until_it_comes_back(documents):
    documents.put([paper(7, "10.1000/abc", "PMC7")])
    documents.delete(gone("7"))
    assert documents.resolve(["doi:10.1000/abc", "pmcid:PMC7"]) == {}
    documents.put([paper(7, "10.1000/abc", version=100)])
    assert documents.resolve(["doi:10.1000/abc", "pmcid:PMC7"]) == {"doi:10.1000/abc": "7"}


def test_more_identifiers_than_a_request_takes(documents, ports):
    documents.put([paper(n, f"10.1000/{n}", f"PMC{n}") for n in range(1, 61)])
    asked = [f"{kind}{n}" for kind in ("doi:10.1000/", "pmcid:PMC") for n in range(1, min(ports.many, 1_000))]
    assert len(documents.resolve(asked)) == 120

"""How each service answers. README.md says where each shape comes from."""


def icite_paper(pmid, references=(), cited_by=(), **more):
    """A paper as iCite sends it."""
    return {
        "_id": str(pmid),
        "pmid": int(pmid),
        "title": f"Paper {pmid}",
        "authors": [{"lastName": "Doe", "firstName": "Jane", "fullName": "Doe, Jane"}],
        "journal": "J Test",
        "year": 2016,
        "doi": f"10.1000/{pmid}",
        "is_research_article": True,
        "is_clinical": False,
        "citation_count": len(cited_by),
        "citations_per_year": len(cited_by) / 4,
        "expected_citations_per_year": 1.5,
        "field_citation_rate": 2.7,
        "relative_citation_ratio": 1.25,
        "nih_percentile": 60.1,
        "provisional": False,
        "references": [int(each) for each in references],
        "cited_by": [int(each) for each in cited_by],
        "cited_by_clin": [],
        "citedByPmidsByYear": [{str(each): 2018} for each in cited_by],
    } | more


def crossref_work(doi, *updates, **more):
    """A work as Crossref sends it; `updates` are what `update` makes."""
    return {
        "DOI": doi,
        "type": "journal-article",
        "title": [f"The work {doi}"],
        "author": [{"given": "Jane", "family": "Doe", "sequence": "first"}, {"name": "The Group"}],
        "container-title": ["Journal of Tests"],
        "published-print": {"date-parts": [[2016, 3]]},
        "issued": {"date-parts": [[2015, 12, 1]]},
        "volume": "12",
        "issue": "3",
        "page": "101-109",
        "reference": [{"key": "1", "unstructured": "Another work."}],
        **({"updated-by": list(updates)} if updates else {}),
    } | more


def update(kind, doi="10.1000/notice", date=(2019, 7, 26), source="retraction-watch"):
    """One of the notices about a work."""
    return {
        "DOI": doi,
        "type": kind,
        "label": kind.replace("_", " ").capitalize(),
        "source": source,
        "updated": {"date-parts": [list(date)], "date-time": "2019-07-26T00:00:00Z", "timestamp": 1564099200000},
        **({"record-id": "20946"} if source == "retraction-watch" else {}),
    }


def icite(server, path, given):
    assert path == "api/pubs"
    found = [server.papers[each] for each in given["pmids"].split(",") if each in server.papers]
    return 200, {"meta": {"limit": 1000, "offset": 0}, "links": {}, "data": found}


def crossref(server, path, given):
    if path == "works":
        named = [each.removeprefix("doi:") for each in given["filter"].split(",")]
        found = [server.works[each.lower()] for each in named if each.lower() in server.works][: int(given["rows"])]
        listed = {"total-results": len(found), "items": found, "items-per-page": int(given["rows"])}
        return 200, {"status": "ok", "message-type": "work-list", "message": listed}
    doi = path.removeprefix("works/").lower()
    if doi not in server.works:
        return 404, b"Resource not found."
    return 200, {"status": "ok", "message-type": "work", "message": server.works[doi]}


ANSWERS = {"icite": icite, "crossref": crossref}

"""How each service answers. README.md says where each shape comes from."""

import re


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
    if path == "works" and "query.bibliographic" in given:
        words = set(given["query.bibliographic"].lower().split())
        near = sorted(server.works.values(), key=lambda work: -len(words & set(work["title"][0].lower().split())))
        listed = {"total-results": len(near), "items": near[: int(given["rows"])]}
        return 200, {"status": "ok", "message-type": "work-list", "message": listed}
    if path == "works":
        named = [each.removeprefix("doi:") for each in given["filter"].split(",")]
        found = [server.works[each.lower()] for each in named if each.lower() in server.works][: int(given["rows"])]
        listed = {"total-results": len(found), "items": found, "items-per-page": int(given["rows"])}
        return 200, {"status": "ok", "message-type": "work-list", "message": listed}
    doi = path.removeprefix("works/").lower()
    if doi not in server.works:
        return 404, b"Resource not found."
    return 200, {"status": "ok", "message-type": "work", "message": server.works[doi]}


def epmc_record(source, number, *links, **more):
    """A record as Europe PMC sends it with resultType=core; `links` are what `link` makes."""
    known = {"pmid": number} if source == "MED" else {}
    where = {"bookOrReportDetails": {"publisher": "medRxiv", "yearOfPublication": 2020}}
    if source == "MED":
        where = {"journalInfo": {"issue": "3", "volume": "12", "journal": {"title": "Journal of Tests"}}}
    return {
        "id": number,
        "source": source,
        "doi": f"10.1000/{number.lower()}",
        "title": f"The <i>record</i> {number}.",
        "authorString": "Doe J, The Group.",
        "authorList": {
            "author": [
                {"fullName": "Doe J", "firstName": "Jane", "lastName": "Doe", "initials": "J"},
                {"collectiveName": "The Group"},
            ]
        },
        "pubYear": "2020",
        "firstPublicationDate": "2020-04-17",
        "abstractText": "<h4>Background</h4>Why &amp; how.<h4>Results</h4>p &lt; 0.05.",
        "isOpenAccess": "Y",
        "inEPMC": "Y",
        "inPMC": "N",
        "citedByCount": 5,
        "license": "cc by",
        **known,
        **where,
        **({"commentCorrectionList": {"commentCorrection": list(links)}} if links else {}),
    } | more


def link(kind, source, number):
    """A link between versions."""
    note = "Link created based on a title-first author match"
    return {"id": number, "source": source, "type": kind, "note": note, "orderIn": 10001}


def jats(title, text="What was done."):
    """A full text, as Europe PMC sends it."""
    return (
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving and Interchange DTD v1.3 20210610//EN" '
        '"JATS-archivearticle1-3-mathml3.dtd">'
        f"<article><front><article-meta><title-group><article-title>{title}</article-title></title-group>"
        '<permissions><license xmlns:xlink="http://www.w3.org/1999/xlink" '
        'xlink:href="https://creativecommons.org/licenses/by/4.0/"/></permissions></article-meta></front>'
        f"<body><sec><title>Methods</title><p>{text}</p></sec></body></article>"
    ).encode()


def copy(url, **more):
    """A location as Unpaywall sends it."""
    return {
        "url": url,
        "url_for_pdf": f"{url}.pdf",
        "url_for_landing_page": url,
        "host_type": "repository",
        "version": "acceptedVersion",
        "license": "cc-by",
        "is_best": True,
        "evidence": "oa repository (via OAI-PMH doi match)",
        "repository_institution": None,
        "updated": "2022-02-12T00:28:39.645349",
    } | more


def unpaywall_paper(doi, *copies, **more):
    """A paper as Unpaywall sends it."""
    return {
        "doi": doi,
        "doi_url": f"https://doi.org/{doi}",
        "title": f"The paper {doi}",
        "is_oa": bool(copies),
        "oa_status": "green" if copies else "closed",
        "best_oa_location": copies[0] if copies else None,
        "oa_locations": list(copies),
        "data_standard": 2,
        "genre": "journal-article",
    } | more


EPMC_TERM = re.compile(r'DOI:"([^"]+)"|PMCID:(PMC\d+)|EXT_ID:(\w+) AND SRC:\w+')


def europepmc(server, path, given):
    if path != "search":
        text = server.texts.get(path.removesuffix("/fullTextXML"))
        return (200, text) if text else (404, b"<html>not found</html>")
    named = {value.lower() for found in EPMC_TERM.findall(given["query"]) for value in found if value}
    found = [
        each for each in server.records
        if not named or named & {str(each.get(name, "")).lower() for name in ("doi", "pmcid", "id")}
    ]  # fmt: skip
    start = 0 if given["cursorMark"] == "*" else int(given["cursorMark"])
    end = start + int(given["pageSize"])
    listed = {"resultList": {"result": found[start:end]}, "nextCursorMark": str(min(end, len(found)))}
    return 200, {"version": "6.9", "hitCount": len(found), "request": {"queryString": given["query"]}, **listed}


def unpaywall(server, path, given):
    if "@" not in given.get("email", ""):
        return 422, {"HTTP_status_code": 422, "error": True, "message": "Email address required in API call"}
    doi = path.removeprefix("v2/")
    if doi not in server.copies:
        return 404, {"HTTP_status_code": 404, "error": True, "message": f"'{doi}' isn't in Unpaywall."}
    return 200, server.copies[doi]


ANSWERS = {"icite": icite, "crossref": crossref, "europepmc": europepmc, "unpaywall": unpaywall}

"""How long answers are: characters of the JSON that a model reads, about four to a token.

    python -m benchmarks.lengths

Real records from the local NCBI, the first ones there are. "Whole" is what the records take together, "answered" what a
client gets that asks for no other length.
"""

from typing import Any

from bio_mcp.call import call
from bio_mcp.tools import answer_size
from bio_mcp.tools.pubmed import fetch_details, relate, search_pubmed
from tests.support.eutils_server.client import running
from tests.support.eutils_server.fixtures import SAMPLE
from tests.tools.live import Live

LEVELS = ("abstract_plus", "citation_data", "full_xml", "medline_text")


def main() -> None:
    with running([SAMPLE]) as ncbi:
        live = Live(ncbi.base_url)
        pmids = [str(pmid) for pmid in ncbi.control.pmids()]
        print("| fetchArticleDetails | records | whole | answered | records in it |\n|---|---|---|---|---|")
        for level in LEVELS:
            for many in (1, 20, 200):
                print(fetched(live, pmids[:many], {"detailLevel": level}, level))
        for many in (1, 20, 200):
            print(fetched(live, pmids[:many], {"includeAffiliations": True}, "with affiliations, each once"))
        print(f"\nAt every author instead: {per_author(live, pmids[:20]):,} characters of 20 records.\n")
        searched = {"queryTerm": "cancer", "maxResults": 200, "fetchBriefSummaries": 100}
        related = {"sourcePmid": pmids[0], "maxRelatedResults": 50}
        for tool, arguments in ((search_pubmed, searched), (relate, related)):
            print(f"{tool.name} {arguments}: {len(call(tool, arguments, live).text):,} characters")
        live.wire.close()


def fetched(live: Any, pmids: list[str], more: dict[str, Any], name: str) -> str:
    whole = call(fetch_details, {"pmids": pmids, "maxCharacters": answer_size.MOST, **more}, live)
    answered = call(fetch_details, {"pmids": pmids, **more}, live)
    lengths = f"{len(whole.text):,} | {len(answered.text):,} | {len(answered.body['articles'])}"
    return f"| {name} | {len(pmids)} | {lengths} |"


def per_author(live: Any, pmids: list[str]) -> int:
    """The same records with each author's affiliations spelt out, as the contract's `affiliation`."""
    whole = call(fetch_details, {"pmids": pmids, "maxCharacters": answer_size.MOST}, live)
    records = live.pubmed.efetch(pmids)
    places = ["; ".join(each.affiliations) for record in records for each in getattr(record, "authors", ())]
    return len(whole.text) + sum(len(f',"affiliation":"{place}"') for place in places if place)


if __name__ == "__main__":
    main()

"""Which papers have an identifier: an item for each identifier in the table of papers, with the PMIDs that ever had it.

It is written before the paper, and stays when the paper loses the identifier or is deleted. So what a paper has is
what its own item lists, and an item of an identifier says only which papers to look at. Unlike in a secondary index of
DynamoDB's, whoever stored a paper finds it at once.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from bio_mcp.adapters.aws.dynamodb import BACKOFF, Item, batch_get, in_parallel
from bio_mcp.adapters.aws.failures import reaching
from bio_mcp.adapters.retry import Backoff

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient

WHAT = "papers"
LISTED = "identifiers"  # of a paper's item
MAX_KEY = 2_000  # bytes of an identifier in a key, which may have 2,048; a longer one is hashed


class PaperIdentifiers:
    """Items of a table whose key is `pmid`; theirs begin with #, as those of counters do."""

    def __init__(self, client: "DynamoDBClient", table: str, backoff: Backoff = BACKOFF) -> None:
        self._client = client
        self._table = table
        self._backoff = backoff

    def add(self, papers: Mapping[str, Iterable[str]]) -> None:
        """Add the papers, by PMID, to each of their identifiers."""
        by_identifier: dict[str, set[str]] = {}
        for pmid, identifiers in papers.items():
            for identifier in identifiers:
                by_identifier.setdefault(identifier, set()).add(pmid)
        known = self.pmids(by_identifier)
        new = {each: pmids - known.get(each, set()) for each, pmids in by_identifier.items()}
        in_parallel([partial(self._add, each, pmids) for each, pmids in new.items() if pmids])

    def pmids(self, identifiers: Iterable[str]) -> dict[str, set[str]]:
        """The papers that may have it, for each identifier that one may have."""
        named = {_key(each): each for each in identifiers}
        keys = [{"pmid": {"S": key}} for key in named]
        found = batch_get(self._client, self._table, keys, ("pmid", "pmids"), self._backoff)
        return {named[item["pmid"]["S"]]: set(item["pmids"]["NS"]) for item in found}

    def _add(self, identifier: str, pmids: set[str]) -> None:
        with reaching(WHAT):
            self._client.update_item(
                TableName=self._table,
                Key={"pmid": {"S": _key(identifier)}},
                UpdateExpression="ADD #pmids :pmids",
                ExpressionAttributeNames={"#pmids": "pmids"},
                ExpressionAttributeValues={":pmids": {"NS": sorted(pmids)}},
            )


def listed(identifiers: Iterable[str]) -> dict[str, Any]:
    """The attribute of a paper's item that lists its identifiers."""
    return {LISTED: {"L": [{"S": each} for each in identifiers]}}


def listed_in(item: Item) -> set[str]:
    """The identifiers that a paper's item lists; none in one of an earlier version."""
    return {each["S"] for each in item.get(LISTED, {"L": []})["L"]}


def _key(identifier: str) -> str:
    encoded = identifier.encode()
    return "#identifier " + (identifier if len(encoded) <= MAX_KEY else f"sha256 {sha256(encoded).hexdigest()}")

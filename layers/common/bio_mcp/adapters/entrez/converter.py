"""The PMC ID Converter: one GET for many ids of one kind."""

from collections.abc import Sequence

from bio_mcp.adapters.entrez.answer import Answer, well_formed
from bio_mcp.adapters.entrez.transport import Form, HttpTransport, timeout_of
from bio_mcp.deadline import Deadline
from bio_mcp.ports.ncbi import ArticleIds, IdKind

BATCH = 50  # ids per request: a DOI may take 100 characters of the URL


class ConverterTransport(HttpTransport):
    """A transport for the converter, which takes GET only; the API key is not sent, so that it is in no URL."""

    def _exchange(self, url: str, endpoint: str, form: Form, deadline: Deadline) -> Answer:  # noqa: ARG002  one address
        named = {key: value for key, value in self._identity.items() if key != "api_key"}
        params: dict[str, str] = {key: str(value) for key, value in form.items()} | named
        with self._client.stream("GET", self._base_url, params=params, timeout=timeout_of(deadline)) as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            return Answer(response.status_code, headers, self._body(response, deadline), endpoint)


def read_ids(answer: Answer, requested: Sequence[str], kind: IdKind) -> dict[str, ArticleIds]:
    """The ids of each article in `requested`; ids that PMC does not have are absent.

    Raises `NcbiUnreadable`, also if the answer omits one of them.
    """
    rows = well_formed(lambda: list(answer.json["records"]), "NCBI's converter sent no records; try again")
    by_id = {_requested_id(row, kind): row for row in rows if isinstance(row, dict)}
    return well_formed(
        lambda: {id_: _ids(row) for id_ in requested if (row := by_id[id_.casefold()]).get("status") != "error"},
        "NCBI's converter did not answer for every id; try again",
    )


def _requested_id(row: dict[str, object], kind: IdKind) -> str:
    return str(row.get("requested-id") or row.get(kind) or "").casefold()


def _ids(row: dict[str, object]) -> ArticleIds:
    pmid, pmcid, doi = (str(row[name]) if row.get(name) else None for name in ("pmid", "pmcid", "doi"))
    return ArticleIds(pmid, pmcid.partition(".")[0] if pmcid else None, doi)

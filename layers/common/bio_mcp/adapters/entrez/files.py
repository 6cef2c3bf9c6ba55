"""NCBI's baseline and update files over HTTPS, as ftp.ncbi.nlm.nih.gov serves them below /pubmed/.

They are not the E-utilities: they take no key, and have no limit but politeness, so a client fetches one at a time.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from bio_mcp.adapters.entrez.transport import log_wait
from bio_mcp.adapters.http import TRANSIENT_STATUSES, http_client, read_body
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Misconfigured, NcbiFailed, NcbiUnreadable
from bio_mcp.literature.pubmed_files import in_order, published_md5
from bio_mcp.scope import call_deadline

BASELINE = "baseline"
FOLDERS = (BASELINE, "updatefiles")
LINK = re.compile(r'href="([^"/?]+)"')
TITLE = re.compile(r"<title[^>]*>([^<]*)", re.IGNORECASE)
LONGEST_TITLE = 100  # characters of a page's title in a message
ANSWER_S = 60.0  # for a list of files, or an MD5
PAUSE_S = 30.0  # without a byte, after which a connection is given up
LARGEST = 1 << 30  # bytes of a file; the longest so far has 100 MB
BACKOFF = Backoff(tries=6, first_s=1.0, cap_s=30.0)
AWAY = "NCBI's files could not be fetched ({}); try again later"


class _Interrupted(NcbiFailed):
    """What another try may mend."""


class NcbiFiles:
    """The port `PubmedFiles` over the folders below one address. Redirects are not followed. Threads may share it."""

    def __init__(
        self, url: str, agent: str, *, transport: httpx.BaseTransport | None = None, backoff: Backoff = BACKOFF
    ) -> None:
        """`agent` is how the program names itself."""
        self._url, self._backoff = url.rstrip("/"), backoff
        self._client = http_client(
            transport=transport,
            follow_redirects=False,
            timeout=PAUSE_S,
            headers={"User-Agent": agent, "accept-encoding": "identity"},
        )

    def close(self) -> None:
        self._client.close()

    def addresses(self) -> list[str]:
        found = {name: folder for folder in FOLDERS for name in self._names(folder)}
        return [f"{found[name]}/{name}" for name in in_order(found)]

    def _names(self, folder: str) -> list[str]:
        """NLM's files in a folder; for some days after a new baseline there is no update file."""
        page = self._text(f"{folder}/")
        names, titles = in_order(LINK.findall(page)), TITLE.findall(page)
        title = " ".join(titles[0].split()) if titles else ""
        if names or (folder != BASELINE and title.rstrip("/").endswith(folder)):
            return names
        found = f"a page with the title {title[:LONGEST_TITLE]!r}" if title else "a page without a title"
        raise NcbiUnreadable(
            f"NCBI's list of {folder} files names none: {urlsplit(self._url).hostname} answered {found}; "
            "nothing was fetched, try again later"
        )

    def md5(self, address: str) -> str:
        if md5 := published_md5(self._text(f"{address}.md5")):
            return md5
        raise NcbiUnreadable(AWAY.format("an MD5 that is none"))

    def download(self, address: str, into: Path) -> None:
        def attempt() -> None:
            start = into.stat().st_size if into.exists() else 0
            wanted = {"range": f"bytes={start}-"} if start else {}
            with self._answer(address, wanted) as response:
                if response.status_code != httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:  # it is whole
                    _append(response, into)

        retry(attempt, worth=_Interrupted, backoff=self._backoff, waiting=partial(log_wait, self._url))

    def _text(self, address: str) -> str:
        def attempt() -> str:
            with self._answer(address) as response:
                deadline = Deadline(ANSWER_S, within=call_deadline())
                too_long = _Interrupted(AWAY.format("a list without an end"))
                return read_body(response, deadline, "NCBI answered", too_long).decode("latin-1")

        return retry(attempt, worth=_Interrupted, backoff=self._backoff, waiting=partial(log_wait, self._url))

    @contextmanager
    def _answer(self, address: str, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Response]:
        """The answer of a request that succeeded, or that was for a range behind the end."""
        call_deadline().check("fetching NCBI's files")
        try:
            with self._client.stream("GET", f"{self._url}/{address}", headers=headers) as response:
                if not response.is_success and response.status_code != httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
                    sentence = AWAY.format(f"status {response.status_code}")
                    if response.status_code in TRANSIENT_STATUSES:
                        raise _Interrupted(sentence)
                    raise NcbiFailed(sentence, retryable=False)
                yield response
        except (httpx.UnsupportedProtocol, httpx.InvalidURL):
            raise Misconfigured("NCBI_FILES_URL is not an http address; correct it") from None
        except (httpx.HTTPError, ValueError) as error:
            raise _Interrupted(AWAY.format(type(error).__name__)) from None


def _append(response: httpx.Response, into: Path) -> None:
    """Write the answer behind what there is; from the beginning where the server sends the whole file."""
    with into.open("ab" if response.status_code == httpx.codes.PARTIAL_CONTENT else "wb") as out:
        for part in response.iter_bytes():
            out.write(part)
            call_deadline().check("the file was whole")
            if out.tell() > LARGEST:
                raise NcbiFailed(AWAY.format("a file without an end"), retryable=False)

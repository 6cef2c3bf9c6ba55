"""Start a local NCBI from a test and move it: `with running(files) as ncbi: ... ncbi.base_url ... ncbi.control`."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

REPOSITORY = Path(__file__).parents[3]


class Control:
    """The control API of a running server; days are `YYYY/MM/DD`. ValueError with the server's sentence on misuse."""

    def __init__(self, address: str) -> None:
        self._netloc = urlsplit(address).netloc

    def _call(self, method: str, name: str, content: Any = None) -> Any:
        connection = http.client.HTTPConnection(self._netloc, timeout=60)
        body = None if content is None else json.dumps(content)
        try:
            connection.request(method, f"/control/{name}", body)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(answer["error"])
        return answer

    def add(self, xml: str) -> list[int]:
        """Take in a PubmedArticleSet: the highest version wins, DeleteCitation removes. Gives its PMIDs."""
        return list(self._call("POST", "records", {"xml": xml})["pmids"])

    def revise(self, pmid: int, day: str, replace: dict[str, str] | None = None) -> None:
        """Serve the record with LR `day` and each text of `replace` exchanged for its value."""
        self._call("POST", "revisions", {"pmid": pmid, "day": day, "replace": replace or {}})

    def put(self, xml: str) -> list[int]:
        """Serve exactly these records under their PMIDs, whatever was there."""
        return list(self._call("POST", "revisions", {"xml": xml})["pmids"])

    def withdraw(self, pmids: Sequence[int]) -> None:
        self._call("POST", "withdrawals", {"pmids": list(pmids)})

    def withhold(self, pmids: Sequence[int]) -> None:
        """List exactly these from now on without ever delivering them by EFetch."""
        self._call("POST", "withheld", {"pmids": list(pmids)})

    def clone(self, count: int, days: Sequence[str] | str, **options: Any) -> list[int]:
        """Synthetic copies created, entered and revised on `days` in turn; `first`, `sources`, `revised` as needed."""
        chosen = [days] if isinstance(days, str) else list(days)
        return list(self._call("POST", "clones", {"count": count, "days": chosen, **options})["pmids"])

    def set_today(self, day: str | None) -> None:
        """The server's day; records created later are not there yet. None for the real one."""
        self._call("POST", "today", {"day": day})

    def pmids(self, kind: str = "", first: str = "", last: str = "") -> list[int]:
        """The truth: PMIDs dated `first`..`last` by crdt, edat, mhda, mdat or pdat; without a kind all that exist."""
        asked = "?" + urlencode({"kind": kind, "first": first, "last": last}) if kind else ""
        return list(self._call("GET", f"pmids{asked}")["pmids"])

    def record(self, pmid: int) -> str | None:
        """The XML now served for a PMID."""
        xml: str | None = self._call("GET", f"record?pmid={pmid}")["xml"]
        return xml

    def fault(self, **fields: Any) -> None:
        """Add one fault; the fields are those of `faults.Fault`."""
        self._call("POST", "faults", [fields])

    def clear_faults(self) -> None:
        self._call("DELETE", "faults")

    def requests(self, endpoint: str = "") -> list[dict[str, Any]]:
        """What was asked so far: number, method, endpoint, params, agent, time (monotonic seconds), status, bytes."""
        return [entry for entry in self._call("GET", "requests") if endpoint in ("", entry["endpoint"])]

    def clear_requests(self) -> None:
        self._call("DELETE", "requests")

    def rules(self, **rules: Any) -> None:
        """Change `rate`, `key_rate`, `strict` or `invalid_keys`."""
        self._call("POST", "rules", rules)

    def expire_history(self) -> None:
        self._call("POST", "expiry")

    def reset(self) -> None:
        """Everything as it was at the start, except the rules."""
        self._call("POST", "reset")


@dataclass(frozen=True)
class Running:
    """A server in a process of its own. `base_url` is what the product takes for NCBI_BASE_URL."""

    address: str
    pid: int

    @property
    def base_url(self) -> str:
        return f"{self.address}/entrez/eutils/"

    @property
    def converter_url(self) -> str:
        """What the product takes for NCBI_ID_CONVERTER_URL."""
        return f"{self.address}/tools/idconv/api/v1/articles/"

    @property
    def control(self) -> Control:
        return Control(self.address)


@contextmanager
def running(
    files: Sequence[Path] = (),
    *,
    rate: int | None = None,
    today: str | None = None,
    host: str = "127.0.0.1",
) -> Iterator[Running]:
    """A server over these files (none: an empty NCBI) on a free port, ready when the block begins, gone after it."""
    module = "tests.support.eutils_server"
    command = [sys.executable, "-m", module, "--host", host, "--port", "0", "--empty", "--attached"]
    command += ["--rate", str(rate)] if rate is not None else []
    command += ["--today", today] if today else []
    command += [str(Path(file).resolve()) for file in files]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=REPOSITORY, stdin=pipe, stdout=pipe, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if not line.startswith("http"):
            raise RuntimeError(f"the local NCBI did not start (exit {process.wait(10)})")
        yield Running(line.split("/entrez/")[0], process.pid)
    finally:
        process.terminate()
        process.communicate()

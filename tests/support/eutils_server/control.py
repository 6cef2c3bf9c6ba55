"""The hand that moves this NCBI: `/control/...`, outside the E-utilities' path, JSON in and out."""

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl

from tests.support.eutils_server.answers import Answer, as_json
from tests.support.eutils_server.catalogue import copy_of, with_revision
from tests.support.eutils_server.records import read_record, split

if TYPE_CHECKING:
    from tests.support.eutils_server.server import Server

ROOT = "/control/"
FIRST_COPY = 90_000_001


def handle(server: "Server", method: str, url: SplitResult, body: bytes) -> Answer:
    """Answer one control request; 400 with a sentence for what cannot be done."""
    action = _ACTIONS.get((method, url.path.removeprefix(ROOT).strip("/")))
    if action is None:
        return _refused(404, f"no {method} {url.path}; there are {sorted(' '.join(pair) for pair in _ACTIONS)}")
    try:
        content = json.loads(body) if body else dict(parse_qsl(url.query))
        return as_json(action(server, content))
    except (KeyError, TypeError, ValueError) as failure:
        return _refused(400, f"{type(failure).__name__}: {failure}")


def _refused(status: int, message: str) -> Answer:
    return Answer(json.dumps({"error": message}).encode(), "application/json", status)


def _add(server: "Server", content: Any) -> Any:
    """`xml`: a PubmedArticleSet as in an update file: versions and deletions apply."""
    return {"pmids": server.ncbi.catalogue.load(content["xml"].encode())}


def _revise(server: "Server", content: Any) -> Any:
    """`xml`: serve these records, whatever was there. Or `pmid`, `day` (the new LR) and `replace` (old: new)."""
    catalogue = server.ncbi.catalogue
    if "xml" in content:
        records = [read_record(element) for element in split(content["xml"].encode())]
    else:
        known = catalogue.get(content["pmid"])
        if known is None:
            raise ValueError(f"PMID {content['pmid']} is not in the catalogue")
        records = [with_revision(known, content["day"], content.get("replace", {}))]
    for record in records:
        catalogue.put(record)
    return {"pmids": [record.pmid for record in records]}


def _withhold(server: "Server", content: Any) -> None:
    server.ncbi.catalogue.withheld = set(content["pmids"])


def _today(server: "Server", content: Any) -> Any:
    """`day` as YYYY/MM/DD: records created later do not exist yet. Null for the real day."""
    day = content["day"]
    if day is not None and not re.fullmatch(r"\d{4}/\d\d/\d\d", day):
        raise ValueError(f"{day} is not YYYY/MM/DD")
    server.ncbi.catalogue.today = day
    return {"day": server.ncbi.catalogue.today}


def _clone(server: "Server", content: Any) -> Any:
    """`count` copies of real records (`sources`, or all in turn), created on `days` in turn, PMIDs from `first` on."""
    catalogue = server.ncbi.catalogue
    sources = [catalogue.visible[pmid] for pmid in content.get("sources") or list(catalogue.visible)[:500]]
    first, days = content.get("first", FIRST_COPY), content["days"]
    pmids = range(first, first + content["count"])
    for number, pmid in enumerate(pmids):
        catalogue.put(copy_of(sources[number % len(sources)], pmid, days[number % len(days)], content.get("revised")))
    return {"pmids": list(pmids)}


def _pmids(server: "Server", content: Any) -> Any:
    """What a faultless client must find: PMIDs with a `kind` of date in `first`..`last`, or all."""
    catalogue = server.ncbi.catalogue
    if "kind" in content:
        return {"pmids": sorted(catalogue.between(content["kind"], content["first"], content["last"]))}
    return {"pmids": sorted(catalogue.visible)}


def _record(server: "Server", content: Any) -> Any:
    record = server.ncbi.catalogue.get(int(content["pmid"]))
    return {"xml": record.xml.decode(), "version": record.version, "dates": record.dates} if record else {"xml": None}


def _rules(server: "Server", content: Any) -> Any:
    """Change `rate`, `key_rate`, `strict`, `invalid_keys` of the running server."""
    for name, value in content.items():
        if not hasattr(server.rules, name):
            raise ValueError(f"no rule is called {name}")
        setattr(server.rules, name, value)
    return vars(server.rules)


def _reset(server: "Server", _content: Any) -> Any:
    """Catalogue as loaded, no faults, no history, empty log; rules stay."""
    server.ncbi.catalogue.reset()
    server.ncbi.history.expire()
    server.faults.clear()
    server.log.clear()
    return {}


_ACTIONS: dict[tuple[str, str], Callable[["Server", Any], Any]] = {
    ("POST", "records"): _add,
    ("POST", "revisions"): _revise,
    ("POST", "withdrawals"): lambda server, content: server.ncbi.catalogue.withdraw(content["pmids"]),
    ("POST", "withheld"): _withhold,
    ("POST", "clones"): _clone,
    ("POST", "today"): _today,
    ("POST", "rules"): _rules,
    ("POST", "reset"): _reset,
    ("POST", "faults"): lambda server, content: server.faults.add(content),
    ("DELETE", "faults"): lambda server, _: server.faults.clear(),
    ("GET", "requests"): lambda server, _: server.log.entries,
    ("DELETE", "requests"): lambda server, _: server.log.clear(),
    ("POST", "expiry"): lambda server, _: server.ncbi.history.expire(),
    ("GET", "pmids"): _pmids,
    ("GET", "record"): _record,
}

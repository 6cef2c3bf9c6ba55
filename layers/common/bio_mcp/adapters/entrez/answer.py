"""One HTTP answer of the E-utilities."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, TypeVar

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.clock import EASTERN

T = TypeVar("T")

_ERROR = re.compile(rb"<ERROR>\s*([^<]*?)\s*</ERROR>")
_ROOT = re.compile(rb"\s*(?:<\?[^>]*>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*>\s*)*<([A-Za-z][\w.:-]*)", re.DOTALL)
_HTML = re.compile(rb"\s*(?:<!doctype html|<html|<head|<body)", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """An answer of one utility (`endpoint`: "esearch", "efetch", ...). Header names are in lower case; `body` is
    decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    endpoint: str

    @property
    def is_html(self) -> bool:
        """Whether the body is a web page, as load balancers and maintenance pages send."""
        return _HTML.match(self.body) is not None

    @property
    def is_json(self) -> bool:
        """Whether the body starts like JSON."""
        return self.body.lstrip()[:1] in (b"{", b"[")

    @property
    def is_xml(self) -> bool:
        """Whether the body starts like XML that is not HTML."""
        return self.body.lstrip()[:1] == b"<" and not self.is_html

    @cached_property
    def json(self) -> dict[str, Any]:
        """The JSON object; raw newlines in strings, which NCBI's messages contain, are accepted. Raises
        `NcbiUnreadable`."""
        try:
            value = json.loads(self.body, strict=False)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise NcbiUnreadable(f"NCBI sent a broken {self.endpoint} answer; try again")
        return value

    def xml(self) -> Any:
        """The root element, parsed without network, DTD and entities. Raises `NcbiUnreadable`."""
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            root = etree.fromstring(self.body, parser)
        except etree.XMLSyntaxError:
            root = None
        if root is None or any(True for _ in root.iter(etree.Entity)):
            raise NcbiUnreadable(f"NCBI sent a broken {self.endpoint} answer; try again")
        return root

    @property
    def root(self) -> str | None:
        """The name of the XML root; None if there is none, for example if the answer ends after its DOCTYPE."""
        match = _ROOT.match(self.body)
        return match[1].decode() if match else None

    @property
    def is_whole_xml(self) -> bool:
        """Whether the root element is closed at the end of the body; what is between is left to the parser."""
        match = _ROOT.match(self.body)
        if not match:
            return False
        tail = self.body[-200:].rstrip()
        if self.body.find(b"<", match.end()) < 0:
            return tail.endswith(b"/>")
        return re.search(rb"</" + re.escape(match[1]) + rb"\s*>$", tail) is not None

    @property
    def xml_errors(self) -> list[str]:
        """The texts of the ERROR elements. An abstract never matches: character data cannot contain a raw `<`."""
        if b"<ERROR>" not in self.body:
            return []
        return [text.decode("utf-8", "replace") for text in _ERROR.findall(self.body) if text]

    @property
    def day(self) -> date | None:
        """The date at NCBI (US Eastern) when it answered, by the Date header; None without one."""
        sent = _moment(self.headers.get("date", ""))
        return sent.astimezone(EASTERN).date() if sent else None

    def retry_after_s(self, now: datetime | None = None) -> float | None:
        """Seconds that `Retry-After` asks for. A date counts from the answer's own Date, else from `now`."""
        value = self.headers.get("retry-after", "").strip()
        if re.fullmatch(r"\d{1,9}(?:\.\d+)?", value):
            return float(value)
        moment = _moment(value)
        if moment is None:
            return None
        sent = _moment(self.headers.get("date", "")) or now or datetime.now(UTC)
        return max(0.0, (moment - sent).total_seconds())


def _moment(value: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def well_formed(read: Callable[[], T], otherwise: str) -> T:
    """Return `read()`. Raises `NcbiUnreadable(otherwise)` if it fails on a missing member or a member of another type.

    The error is not chained, as it would quote the answer.
    """
    try:
        return read()
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        pass
    raise NcbiUnreadable(otherwise)

"""What PubMed holds: it grows, is revised and shrinks while the server runs.

A record is there from its create date on: with `today` set back, later records do not exist yet. Searches run on
indexes built on first use after a change: days per kind in order, and the answers of single search terms.
"""

import gzip
import lzma
import re
import tarfile
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path

from tests.support.eutils_server import days
from tests.support.eutils_server.records import Record, deletions, read_record, split

Pmids = frozenset[int]


class Catalogue:
    """Records by PMID. Every method is safe to call from several threads."""

    def __init__(self, files: Iterable[Path] = (), today: str | None = None) -> None:
        self._lock = threading.RLock()
        self._records: dict[int, Record] = {}
        self._today = self._first_today = today
        self.withheld: set[int] = set()
        self._changed()
        for path in files:
            for xml in read_files(path):
                self.load(xml)
        self._loaded = dict(self._records)

    def reset(self) -> None:
        """Back to the files it was started with."""
        with self._lock:
            self._records = dict(self._loaded)
            self._today = self._first_today
            self.withheld = set()
            self._changed()

    @property
    def today(self) -> str:
        return self._today or days.today()

    @today.setter
    def today(self, day: str | None) -> None:
        with self._lock:
            self._today = day
            self._changed()

    @property
    def now(self) -> datetime:
        """The moment it is at NCBI: noon of a day that was set."""
        if self._today is None:
            return datetime.now(days.EASTERN)
        return datetime.strptime(f"{self._today} 12", "%Y/%m/%d %H").replace(tzinfo=days.EASTERN)

    def load(self, xml: bytes) -> list[int]:
        """Take in a PubmedArticleSet as NLM's files give it: the highest version wins, deletions come last."""
        with self._lock:
            added = []
            for element in split(xml):
                record = read_record(element)
                known = self._records.get(record.pmid)
                if known is None or record.version >= known.version:
                    self._records[record.pmid] = record
                added.append(record.pmid)
            self.withdraw(deletions(xml))
            return added

    def put(self, record: Record) -> None:
        """Serve this record from now on, whatever was served under its PMID."""
        with self._lock:
            self._records[record.pmid] = record
            self._changed()

    def withdraw(self, pmids: Iterable[int]) -> None:
        with self._lock:
            for pmid in pmids:
                self._records.pop(pmid, None)
            self._changed()

    def _changed(self) -> None:
        self._visible: dict[int, Record] | None = None
        self._calendars: dict[str, tuple[list[str], list[int]]] = {}
        self._answers: dict[object, Pmids] = {}
        self._shown_for = ""

    @property
    def visible(self) -> dict[int, Record]:
        """The records that exist today, by PMID, newest PMID first."""
        with self._lock:
            if self._visible is None or self._shown_for != self.today:
                self._changed()
                self._shown_for = today = self.today
                newest_first = sorted(self._records.items(), reverse=True)
                self._visible = {pmid: record for pmid, record in newest_first if record.created <= today}
            return self._visible

    def get(self, pmid: int) -> Record | None:
        return self.visible.get(pmid)

    @property
    def everything(self) -> Pmids:
        return self.matching("everything", lambda _record: True)

    def matching(self, name: object, wanted: Callable[[Record], bool]) -> Pmids:
        """PMIDs of the records that are wanted; remembered under `name` until the catalogue changes."""
        with self._lock:
            records = self.visible
            if name not in self._answers:
                self._answers[name] = frozenset(pmid for pmid, record in records.items() if wanted(record))
            return self._answers[name]

    def between(self, kind: str, first: str, last: str) -> Pmids:
        """PMIDs with a date of that kind from `first` to `last`, both included."""
        with self._lock:
            records = self.visible
            if kind not in self._calendars:
                pairs = sorted((day, pmid) for pmid, record in records.items() for day in record.dates.get(kind, ()))
                self._calendars[kind] = [day for day, _ in pairs], [pmid for _, pmid in pairs]
            ordered, pmids = self._calendars[kind]
            return frozenset(pmids[bisect_left(ordered, first) : bisect_right(ordered, last)])


def read_files(path: Path) -> Iterator[bytes]:
    """The PubMed XML of a file: plain, .gz, .xz, or every .xml in a .tar of them."""
    if ".tar" in path.suffixes:
        with tarfile.open(path) as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.name.endswith(".xml") else None
                if stream:
                    yield stream.read()
        return
    packed = path.read_bytes()
    unpacked = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix)
    yield unpacked(packed) if unpacked else packed


def copy_of(record: Record, pmid: int, day: str, revised: str | None = None) -> Record:
    """A synthetic record: the text of a real one under a PMID of its own, created, entered and indexed on `day`."""
    xml = re.sub(rb'(<PMID(?: Version="\d+")?>)\s*\d+', rb"\g<1>%d" % pmid, record.xml, count=1)
    xml = re.sub(rb'(<ArticleId IdType="pubmed">)%d<' % record.pmid, rb"\g<1>%d<" % pmid, xml)
    doi = record.own_ids.get("doi", "").encode()
    xml = xml.replace(b">" + doi + b"<", b">%s.%d<" % (doi, pmid)) if doi else xml
    xml = re.sub(rb"</(ArticleTitle)>", rb" (copy %d)</\1>" % pmid, xml, count=1)
    for status in (b"entrez", b"pubmed", b"medline"):
        xml = re.sub(rb'(<PubMedPubDate PubStatus="%s">).*?(</PubMedPubDate>)' % status, _stamp(day), xml, flags=re.S)
    xml = re.sub(rb"(<DateRevised>).*?(</DateRevised>)", _stamp(revised or day), xml, count=1, flags=re.S)
    return read_record(xml)


def _stamp(day: str) -> bytes:
    year, month, date = (part.encode() for part in day.split("/"))
    return rb"\g<1><Year>%s</Year><Month>%s</Month><Day>%s</Day>\g<2>" % (year, month, date)


def with_revision(record: Record, day: str, replace: dict[str, str]) -> Record:
    """The same record revised on `day` (its LR), each text of `replace` exchanged. ValueError if one is not there."""
    xml = re.sub(rb"(<DateRevised>).*?(</DateRevised>)", _stamp(day), record.xml, count=1, flags=re.S)
    for old, new in replace.items():
        if old.encode() not in xml:
            raise ValueError(f"PMID {record.pmid} does not hold {old!r}")
        xml = xml.replace(old.encode(), new.encode())
    return read_record(xml)

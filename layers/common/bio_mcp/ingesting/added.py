"""What people add to a project in the browser: files that they send, and papers of the corpus that they save."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from urllib.parse import parse_qs, urlencode

from bio_mcp.errors import InvalidInput
from bio_mcp.ingesting.documents import Entry, Feed, Incoming
from bio_mcp.ingesting.files import UPLOADS
from bio_mcp.literature.descriptions import of_article
from bio_mcp.literature.documents import ParsedSection
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.ports.sources import SUFFIXES
from bio_mcp.ports.stores import Blobs, Documents

UPLOAD, PAPERS = "upload:", "pmid:"
MOST_PAPERS = 500  # that are saved at once
LONGEST_NAME = 200  # characters of a file's name
ABSTRACT = "abstract"  # what a document's origin says where no more was read
_KEY = re.compile(rf"{UPLOADS}/[0-9a-f]{{32}}/[0-9a-f]{{64}}")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that somebody sent, by its key among the blobs; `name` is what they call it."""

    key: str
    name: str

    @property
    def source(self) -> str:
        """The source of an ingest that reads it."""
        return f"{UPLOAD}{self.key}?{urlencode({'name': self.name})}"


def upload_in(source: str) -> Upload | None:
    """The file that a source names; None for a source of another kind. Raises `InvalidInput`."""
    if not source.startswith(UPLOAD):
        return None
    key, _, query = source.removeprefix(UPLOAD).partition("?")
    [name, *_] = parse_qs(query).get("name", [""])
    if not _KEY.fullmatch(key) or suffix_of(name) is None:
        raise InvalidInput("a file that was sent is named by its key and name", field="source")
    return Upload(key, name[-LONGEST_NAME:])


def suffix_of(name: str) -> str | None:
    """The ending of a file that can be read, in small letters; None for another file."""
    suffix = PurePosixPath(name.replace("\\", "/")).suffix.lower()
    return suffix if suffix in SUFFIXES else None


@dataclass(frozen=True, slots=True)
class UploadFeed(Feed):
    """One file that was sent."""

    blobs: Blobs
    upload: Upload

    def entries(self) -> list[Entry]:
        return [Entry(self.upload.key, self.upload.name, self._load)]

    def _load(self) -> Incoming:
        key, name = self.upload.key, self.upload.name
        return Incoming(name, self.blobs.get(key), f"{UPLOAD}{key}")


def papers_in(source: str) -> list[str] | None:
    """The PMIDs that a source names, each once; None for a source of another kind. Raises `InvalidInput`."""
    if not source.startswith(PAPERS):
        return None
    pmids = [parse_pmid(each.strip()) for each in source.removeprefix(PAPERS).split(",")]
    if len(pmids) > MOST_PAPERS:
        raise InvalidInput(
            f"{len(pmids)} papers are more than the {MOST_PAPERS} that are saved at once", field="source"
        )
    return sorted(set(pmids), key=int)


@dataclass(frozen=True, slots=True)
class PaperFeed(Feed):
    """Papers of the corpus, each with its abstract for text: a file of the same paper takes its place."""

    documents: Documents
    pmids: Sequence[str]

    def entries(self) -> list[Entry]:
        return [Entry(f"{int(each):012}", f"PMID {each}", partial(self._load, each)) for each in self.pmids]

    def _load(self, pmid: str) -> Incoming:
        found = self.documents.get_many([pmid]).get(pmid)
        if found is None:
            raise InvalidInput("the corpus does not have this paper")
        article = found.article
        title = article.title or article.vernacular_title or f"PMID {pmid}"
        sections = tuple(
            ParsedSection(each.text, each.label or "Abstract", ("Abstract", *([each.label] if each.label else ())))
            for each in article.abstract
        )
        return Incoming(
            title,
            None,
            f"{PAPERS}{pmid}",
            of_article(article),
            sections or (ParsedSection(title, "Title", ("Title",)),),
            origin={ABSTRACT: True},
        )

"""The composition root: the only module that names an adapter. Each port is made on first use, once per process."""

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING
from uuid import UUID

from bio_mcp.adapters.embedders.once import Once
from bio_mcp.adapters.kept import Kept
from bio_mcp.errors import InvalidInput
from bio_mcp.literature.clock import EASTERN
from bio_mcp.settings import Settings
from bio_mcp.wiring.caching import cached

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.invoke import LambdaFunctions
    from bio_mcp.adapters.embedded.continuations import SqliteContinuations
    from bio_mcp.adapters.embedded.database import Database
    from bio_mcp.adapters.embedded.integrity import Integrity
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.entrez.wire import Wire
    from bio_mcp.adapters.pace import Pacer
    from bio_mcp.cache import Cache
    from bio_mcp.desk import Desk
    from bio_mcp.ports import (
        Announcements,
        Audit,
        Blobs,
        Checkpoints,
        Documents,
        Embeddings,
        Jobs,
        Leases,
        Passages,
        Projects,
    )
    from bio_mcp.pubmed import Pubmed
    from bio_mcp.wiring.aws import Aws


STORED = ("secretsmanager:", "ssm:")  # how a secret is named that AWS keeps


class Embedded:
    """Everything in one SQLite file and in memory: no server, no credentials; the only network is NCBI's.

    Threads may share it: an attribute that two ask for at once is still made once.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._opened = ExitStack()
        self._database = Once(self._open_database)
        self._documents = Once(self._make_documents)
        self._passages = Once(self._make_passages)
        self._embeddings = Once(lambda: EMBEDDINGS[settings.embeddings](settings))
        self._entrez = Once(self._open_entrez)
        self._desk = Once(lambda: desk(settings, self.entrez, self._opened))
        self._pubmed = Once(lambda: cached(self.entrez, self._open_cache, settings, self.today))

    @property
    def database(self) -> "Database":
        return self._database()

    @property
    def documents(self) -> "Documents":
        return self._documents()

    @property
    def passages(self) -> "Passages":
        return self._passages()

    @property
    def embeddings(self) -> "Embeddings":
        return self._embeddings()

    @property
    def entrez(self) -> "Eutils":
        return self._entrez()

    @property
    def pubmed(self) -> "Pubmed":
        return self._pubmed()

    @property
    def desk(self) -> "Desk":
        return self._desk()

    @property
    def checkpoints(self) -> "Checkpoints":
        from bio_mcp.adapters.embedded.checkpoints import SqliteCheckpoints

        return SqliteCheckpoints(self.database)

    @property
    def jobs(self) -> "Jobs":
        from bio_mcp.adapters.embedded.jobs import SqliteJobs

        return SqliteJobs(self.database)

    @property
    def leases(self) -> "Leases":
        from bio_mcp.adapters.embedded.leases import SqliteLeases

        return SqliteLeases(self.database)

    @property
    def continuations(self) -> "SqliteContinuations":
        from bio_mcp.adapters.embedded.continuations import SqliteContinuations

        return SqliteContinuations(self.database)

    @property
    def audit(self) -> "Audit":
        from bio_mcp.adapters.embedded.audit import SqliteAudit

        return SqliteAudit(self.database)

    @property
    def blobs(self) -> "Blobs":
        from bio_mcp.adapters.embedded.blobs import DirectoryBlobs

        return DirectoryBlobs(self.settings.home.expanduser() / "blobs")

    @property
    def projects(self) -> "Projects":
        from bio_mcp.adapters.embedded.projects import SqliteProjects

        return SqliteProjects(self.database)

    @property
    def announcements(self) -> "Announcements":
        from bio_mcp.adapters.embedded.announcements import LoggedAnnouncements

        return LoggedAnnouncements()

    @property
    def chunk_namespace(self) -> UUID:
        return self.settings.chunk_namespace

    def now(self) -> datetime:
        return datetime.now(UTC)

    def today(self) -> date:
        return datetime.now(EASTERN).date()

    def integrity(self) -> "Integrity":
        """Whether the corpus file is whole. Raises `StoreFailed` where that cannot be read."""
        from bio_mcp.adapters.embedded.integrity import check

        return check(self.database)

    def close(self) -> None:
        """Close the corpus file and the connections to NCBI; nothing may be used after it."""
        self._opened.close()

    def _open_database(self) -> "Database":
        from bio_mcp.adapters.embedded.database import Database

        database = Database(self.settings.home.expanduser())
        self._opened.callback(database.close)
        return database

    def _open_entrez(self) -> "Eutils":
        from bio_mcp.adapters.pace import Pace, gap_s

        key = ncbi_key(self.settings)
        return eutils(self.settings, Pace(gap_s(key is not None, self.settings.ncbi_delay_ms)), key, self._opened)

    def _open_cache(self) -> "Cache":
        from bio_mcp.adapters.embedded.cache import SqliteCache

        cache = SqliteCache(self.settings.home.expanduser(), self.settings.cache_mb << 20)
        self._opened.callback(cache.close)
        return cache

    def _make_documents(self) -> "Documents":
        from bio_mcp.adapters.embedded.documents import SqliteDocuments
        from bio_mcp.literature import serial

        return SqliteDocuments(self.database, serial)

    def _make_passages(self) -> "Passages":
        from bio_mcp.adapters.embedded.passages import SqlitePassages
        from bio_mcp.retrieval.ranking import BM25_B, BM25_K1

        return SqlitePassages(self.database, k1=BM25_K1, b=BM25_B)


def eutils(settings: Settings, pacer: "Pacer", key: Callable[[], str] | None, opened: ExitStack) -> "Eutils":
    """NCBI's E-utilities, with the API key that `key` gives at each request; closed with `opened`."""
    from bio_mcp.adapters.entrez.identity import Identity
    from bio_mcp.adapters.entrez.wire import Wire

    wire = Wire(settings.ncbi_base_url, identity=Identity(settings.ncbi_tool, settings.ncbi_admin_email, key))
    return _over(wire, pacer, settings, opened)


def desk(settings: Settings, asked: "Eutils", opened: ExitStack) -> "Desk":
    """NCBI's other services, at the pace of `asked`; closed with `opened`."""
    from bio_mcp.adapters.entrez.converter import ConverterWire
    from bio_mcp.adapters.entrez.desk import NcbiDesk
    from bio_mcp.adapters.entrez.identity import Identity

    identity = Identity(settings.ncbi_tool, settings.ncbi_admin_email, None)
    wire = ConverterWire(settings.ncbi_converter_url, identity=identity)
    return NcbiDesk(asked, _over(wire, asked.pacer, settings, opened))


def _over(wire: "Wire", pacer: "Pacer", settings: Settings, opened: ExitStack) -> "Eutils":
    from bio_mcp.adapters.entrez.client import Eutils
    from bio_mcp.adapters.retry import Backoff
    from bio_mcp.literature.medline import parse

    opened.callback(wire.close)
    return Eutils(wire, pacer=pacer, parse=parse, backoff=Backoff(tries=settings.ncbi_max_retries + 1))


def ncbi_key(settings: Settings) -> Callable[[], str] | None:
    """Gives the NCBI API key, the newest version where AWS keeps it; None where there is no key."""
    given = settings.ncbi_api_key
    if given.startswith(STORED):
        kept = Kept(stored_secret(given))
        return lambda: kept.now()[0]
    return (lambda: given) if given else None


def _onnx(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.onnx import OnnxEmbeddings

    threads = settings.threads or os.cpu_count() or 1
    return OnnxEmbeddings(settings.models.expanduser() / settings.embedding_model, threads=threads)


def _hf(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.hf import HfEmbeddings

    return HfEmbeddings(settings.models.expanduser() / settings.embedding_model)


def _openai(settings: Settings) -> "Embeddings":
    from bio_mcp.adapters.embedders.openai import OpenAiEmbeddings

    return OpenAiEmbeddings(
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key,
        model=settings.embedding_model,
        dim=settings.embedding_dim,
    )


EMBEDDINGS: dict[str, Callable[[Settings], "Embeddings"]] = {"onnx": _onnx, "hf": _hf, "openai": _openai}


def _aws(settings: Settings) -> "Aws":
    from bio_mcp.wiring.aws import Aws

    return Aws(settings)


MODES: dict[str, Callable[[Settings], "Embedded | Aws"]] = {"embedded": Embedded, "aws": _aws}


@cache
def backends() -> "Embedded | Aws":
    """The process's backends, as the environment configures them."""
    settings = Settings.from_env()
    return MODES[settings.mode](settings)


def functions() -> "LambdaFunctions":
    """Calls Lambda functions. Raises `InvalidInput` where boto3 is not installed."""
    try:
        from bio_mcp.adapters.aws.invoke import LambdaFunctions
    except ModuleNotFoundError:
        raise InvalidInput("calling Lambda functions takes boto3; install bio-mcp[aws]") from None
    return LambdaFunctions()


def published_keys(url: str) -> Callable[[], bytes]:
    """Reads the JSON Web Key Set that an issuer of access tokens publishes."""
    from bio_mcp.adapters.jwks import fetch

    return lambda: fetch(url)


def stored_secret(reference: str) -> Callable[[], Sequence[str]]:
    """Reads the secret that AWS keeps as `secretsmanager:NAME` or `ssm:NAME`, newest version first.

    Raises `InvalidInput` for another reference, and where boto3 is not installed.
    """
    try:
        from bio_mcp.adapters.aws.secrets import reader
    except ModuleNotFoundError:
        raise InvalidInput("a secret that AWS keeps is read by boto3; install bio-mcp[aws]") from None
    return reader(reference)

"""A whole embedded corpus for tests: real stores and index, the local NCBI, and a model that needs no weights."""

from datetime import timedelta
from pathlib import Path

from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.workers import WorkerProcesses
from bio_mcp.literature.medline import parse
from bio_mcp.ports import BackendsOver
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.support.hashed_words import DIM as DIM
from tests.support.hashed_words import HashedWords as HashedWords


class ModelsHere:
    """The port `Models` of a corpus: its configured model and others by their fingerprints."""

    def __init__(self, configured, others):
        self.configured, self.others = configured, others

    def of(self, fingerprint):
        return next((each for each in (self.configured(), *self.others) if each.fingerprint == fingerprint), None)

    def named(self, name):
        return self.of(name) if name else self.configured()


class Heard:
    """Announcements, kept in a file: (kind, PMID, version) of each, even if the process is killed."""

    def __init__(self, path):
        self.path = path

    def publish(self, news):
        with self.path.open("a") as file:
            file.writelines(f"{each.kind} {each.pmid} {each.version}\n" for each in news)

    @property
    def all(self):
        return [tuple(line.split()) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def since(self, before):
        return sorted(self.all[len(before) :])


class Over(BackendsOver):
    """A corpus, but for the ports that are given."""

    def __getattr__(self, name):
        return getattr(self.over, name)


class Corpus(Embedded):
    """An embedded corpus in `home` over the NCBI at `base_url`, not held to its rate. `day` freezes the calendar."""

    def __init__(self, home: Path, base_url: str = "http://127.0.0.1:9/", day=None, **settings):
        converter = base_url.replace("/entrez/eutils/", "/tools/idconv/api/v1/articles/")
        unlimited = {"caller_budgets": ("none",), "sync_max_records": 0}
        super().__init__(Settings(home=home, ncbi_converter_url=converter, **unlimited, **settings))
        self.model, self.day, self.worker_model = HashedWords(), day, HashedWords
        self.other_models = []
        self.heard = Heard(home / "heard")
        wire = HttpTransport(base_url, identity={"tool": "bio-mcp", "email": "test@example.org"})
        self.opened.callback(wire.close)
        self.ncbi = Eutils(wire, pacer=LocalRateLimiter(0), parse=parse, backoff=Backoff(first_s=0, cap_s=0))

    @property
    def configured_embeddings(self):
        return self.model

    @property
    def models(self):
        return ModelsHere(lambda: self.model, self.other_models)

    def workers(self, count):
        environment = self.settings.environment_of_programs
        return WorkerProcesses(self.worker_model, count, fingerprint=HashedWords.fingerprint, environment=environment)

    @property
    def entrez(self):
        return self.ncbi

    @property
    def bus(self):
        return self.heard

    def today(self):
        return self.day or super().today()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class SlowCorpus(Corpus):
    """A corpus whose clock moves a second whenever it is read, so that each slice of papers is written by itself."""

    def now(self):
        self.looks = getattr(self, "looks", 0) + 1
        return super().now() + timedelta(seconds=self.looks)

"""A whole corpus on AWS for tests: what the template makes, in memory, the local NCBI, and no model or OpenSearch."""

from datetime import date

from bio_mcp.adapters.aws.inspection import KEYS
from bio_mcp.adapters.aws.messages import SqsContinuations
from bio_mcp.adapters.entrez.client import Eutils
from bio_mcp.adapters.entrez.transport import HttpTransport
from bio_mcp.adapters.rate_limit import LocalRateLimiter
from bio_mcp.adapters.retry import Backoff
from bio_mcp.errors import DeadlineExceeded
from bio_mcp.health import OK, Finding
from bio_mcp.settings import Settings
from bio_mcp.wiring.aws import Aws
from tests.support.aws_ports import MotoPorts, client
from tests.support.corpus import HashedWords
from tests.support.reference_indexes import ReferenceCollections, ReferenceIndexes, ReferencePassages


def settings_of(made: MotoPorts, **more) -> Settings:
    """The settings that name what `made` makes."""
    tables = {f"table_{name}": made.table(f"{name.title().replace('_', '')}Table") for name in KEYS}
    made.announcements  # noqa: B018  makes the bus
    return Settings(
        **{
            "mode": "aws",
            **tables,
            "queue_url": made.queues["WorkQueue"],
            "ingest_queue_url": made.queues["IngestQueue"],
            "evaluate_queue_url": made.queues["EvaluateQueue"],
            "export_queue_url": made.queues["ExportQueue"],
            "dead_letters_url": made.queues["DeadLetters"],
            "bucket": made.blobs.bucket,
            "event_bus": made.prefix,
            "opensearch_url": "http://127.0.0.1:9",
            "opensearch_service": "none",
            "ncbi_admin_email": "test@example.org",
            **more,
        }
    )


class Tiring:
    """An NCBI that is out of time after so many requests; `rest` gives it time again."""

    def __init__(self, entrez, requests):
        self.entrez, self.requests, self.left = entrez, requests, requests

    def rest(self):
        self.left = self.requests

    def _tire(self):
        if not self.left:
            raise DeadlineExceeded("out of time before the next request")
        self.left -= 1

    def esearch(self, *args, **more):
        self._tire()
        return self.entrez.esearch(*args, **more)

    def efetch(self, *args, **more):
        self._tire()
        return self.entrez.efetch(*args, **more)


class Roomy(ReferenceCollections):
    """Collections in a domain that has room for more."""

    def inspect(self):
        return Finding(OK, "0 projects")


class AwsCorpus(Aws):
    """`wiring.Aws` over `made` and the NCBI at `base_url`, not held to its rate; `requests` fit into one invocation."""

    def __init__(self, made: MotoPorts, base_url: str, day: date | None, requests: int = 2) -> None:
        super().__init__(settings_of(made))
        self.day, self.model, self.index = day, HashedWords(), ReferencePassages()
        wire = HttpTransport(base_url, identity={"tool": "bio-mcp", "email": "test@example.org"})
        self.opened.callback(wire.close)
        self.ncbi = Tiring(Eutils(wire, pacer=LocalRateLimiter(0), backoff=Backoff(first_s=0, cap_s=0)), requests)

    def _connect(self, service, **_options):
        return client(service)

    @property
    def embeddings(self):
        return self.model

    configured_embeddings = embeddings

    @property
    def passages(self):
        return self.index

    @property
    def indexes(self):
        return ReferenceIndexes(self.index)

    @property
    def collections(self):
        return Roomy()

    @property
    def entrez(self):
        return self.ncbi

    @property
    def continuations(self):
        return SqsContinuations(client("sqs"), self.settings.needed("queue_url"), backoff_s=0)

    def today(self):
        return self.day or super().today()

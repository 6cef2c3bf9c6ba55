"""Clients of AWS services: one connection pool each, made on first use. Threads may share them."""

from threading import Lock
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import NoRegionError

from bio_mcp.errors import Misconfigured

# A request without an answer is repeated, so every write of the adapters must tolerate being sent twice.
PATIENT = Config(
    connect_timeout=3,
    read_timeout=20,
    retries={"mode": "standard", "total_max_attempts": 6},
    max_pool_connections=16,
    account_id_endpoint_mode="disabled",  # an endpoint per account has no gain here, and emulators lack it
)


class Clients:
    """Makes clients. What they read of botocore's own files, most of the work, is read for the first of a service only.
    Threads may share it."""

    def __init__(self) -> None:
        self._session = botocore.session.Session()
        self._lock = Lock()

    def make(self, service: str, endpoint: str | None = None, config: Config = PATIENT) -> Any:
        """A client of `service`, at `endpoint` (a URL) instead of AWS. `AWS_ENDPOINT_URL` does the same for all
        services.

        Raises `Misconfigured` if no region is configured.
        """
        try:
            with self._lock:
                return self._session.create_client(service, endpoint_url=endpoint, config=config)
        except NoRegionError:
            raise Misconfigured("mode aws takes a region: set AWS_REGION, or AWS_DEFAULT_REGION") from None


def client(service: str, endpoint: str | None = None, config: Config = PATIENT) -> Any:
    """Make one client as `Clients` does."""
    return Clients().make(service, endpoint, config)

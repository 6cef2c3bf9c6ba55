"""Where OpenSearch is, and how requests to it are signed."""

from bio_mcp.adapters.opensearch.connection import client
from bio_mcp.adapters.opensearch.sigv4 import sigv4
from bio_mcp.adapters.opensearch.transport import OpenSearchTransport


def transport_to(url: str, service: str) -> OpenSearchTransport:
    """Return a transport to `url`, which connects when first used.

    `service` is es (a managed domain), aoss (Serverless) or none, which leaves requests unsigned.
    """
    return OpenSearchTransport(client(url, None if service == "none" else sigv4(service)))

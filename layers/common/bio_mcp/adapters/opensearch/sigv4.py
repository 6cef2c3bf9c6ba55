"""AWS's signature on requests to OpenSearch, as managed domains (`es`) and Serverless collections (`aoss`) want it."""

from typing import TYPE_CHECKING

from bio_mcp.adapters.opensearch.library import Urllib3AWSV4SignerAuth
from bio_mcp.errors import Misconfigured

if TYPE_CHECKING:
    from botocore.credentials import Credentials


def sigv4(service: str, region: str | None = None, credentials: "Credentials | None" = None) -> Urllib3AWSV4SignerAuth:
    """Return opensearch-py's signer (Signature Version 4); region and credentials are botocore's own unless given.

    It signs a header with the body's hash, without which Serverless answers 403. botocore renews credentials that
    expire. Raises `Misconfigured` if there are no credentials or no region.
    """
    from botocore.session import Session

    session = Session()
    found = credentials or session.get_credentials()
    place = region or session.get_config_variable("region")
    if found is None or place is None:
        raise Misconfigured("there are no AWS credentials or no region to sign requests to OpenSearch with")
    return Urllib3AWSV4SignerAuth(found, place, service)

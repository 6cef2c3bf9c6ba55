"""AWS's signature on requests to OpenSearch, as managed domains (`es`) and Serverless collections (`aoss`) want it."""

from hashlib import sha256
from typing import TYPE_CHECKING

from bio_mcp.adapters.opensearch.transport import Headers, Sign
from bio_mcp.errors import IndexUnavailable

if TYPE_CHECKING:
    from botocore.credentials import Credentials


def sigv4(service: str, region: str | None = None, credentials: "Credentials | None" = None) -> Sign:
    """Sign by Signature Version 4; region and credentials are botocore's own unless given.

    The body's hash is signed as a header of its own, without which Serverless answers 403. Credentials that expire
    are renewed by botocore. Raises `IndexUnavailable` where there are none.
    """
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.session import Session

    session = Session()
    found = credentials or session.get_credentials()
    place = region or session.get_config_variable("region")
    if found is None or place is None:
        raise IndexUnavailable("There are no AWS credentials or no region to sign requests with.", retryable=False)

    def sign(method: str, url: str, body: bytes, headers: Headers) -> Headers:
        digest = {"X-Amz-Content-SHA256": sha256(body).hexdigest()}
        request = AWSRequest(method=method, url=url, data=body, headers={**headers, **digest})
        SigV4Auth(found.get_frozen_credentials(), service, place).add_auth(request)
        return dict(request.headers.items())

    return sign

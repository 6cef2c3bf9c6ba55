"""Clients of AWS: one connection pool each, made where it is first needed, safe for threads."""

from typing import TYPE_CHECKING, Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import NoRegionError

from bio_mcp.errors import InvalidInput

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.client import DynamoDBClient
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sqs.client import SQSClient

# A request that got no answer is sent again: every write of the adapters may come twice.
PATIENT = Config(
    connect_timeout=3,
    read_timeout=20,
    retries={"mode": "standard", "total_max_attempts": 6},
    max_pool_connections=16,
    account_id_endpoint_mode="disabled",  # an endpoint per account has no gain here, and emulators lack it
)


def client(service: str, endpoint: str | None = None, config: Config = PATIENT) -> Any:
    """A client of `service`, at `endpoint` (a URL) in place of AWS. `AWS_ENDPOINT_URL` does the same for all.

    Raises `InvalidInput` where nothing says which region to use.
    """
    try:
        return botocore.session.Session().create_client(service, endpoint_url=endpoint, config=config)
    except NoRegionError:
        raise InvalidInput("mode aws takes a region: set AWS_REGION, or AWS_DEFAULT_REGION") from None


def dynamodb(endpoint: str | None = None) -> "DynamoDBClient":
    found: DynamoDBClient = client("dynamodb", endpoint)
    return found


def s3(endpoint: str | None = None) -> "S3Client":
    found: S3Client = client("s3", endpoint)
    return found


def sqs(endpoint: str | None = None) -> "SQSClient":
    found: SQSClient = client("sqs", endpoint)
    return found

"""Clients of AWS's services in an emulator, made by localstack-client, which knows a user's settings for LocalStack."""

import os
from collections.abc import Callable
from typing import Any

import pytest
from botocore.config import Config
from localstack_client.config import get_service_endpoint
from localstack_client.session import Session

from tests.emulated.emulator import Unusable

REGION = "us-east-1"
ONCE = Config(read_timeout=330, retries={"total_max_attempts": 1})
Connect = Callable[[str], Any]
"""The name of a service -> its client."""


def configured() -> str:
    """The endpoint of the LocalStack that `LOCALSTACK_HOST` (host:port) and `USE_SSL`, or `AWS_ENDPOINT_URL`, name.

    Empty where neither a host nor an endpoint is set. Raises `Unusable` for a port that is no number.
    """
    if not (os.environ.get("LOCALSTACK_HOST") or os.environ.get("AWS_ENDPOINT_URL")):
        return ""
    try:
        return str(get_service_endpoint("cloudformation"))
    except RuntimeError as error:
        raise Unusable(f"LOCALSTACK_HOST cannot be used: {error}") from None


def connect(endpoint: str) -> Connect:
    """Makes clients at `endpoint`, whatever is set, with credentials that an emulator takes for its owner's."""
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("AWS_ENDPOINT_URL", endpoint)
        session = Session("test", "test", region_name=REGION)
    return lambda service: session.client(service, config=ONCE)

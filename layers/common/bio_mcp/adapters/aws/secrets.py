"""Secrets stored by AWS, each with its previous value, so that a rotation locks nobody out."""

from collections.abc import Callable
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from bio_mcp.errors import Misconfigured, StoreFailed
from bio_mcp.lazy import Lazy

QUICK = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})  # seconds; a request is waiting


def from_secrets_manager(client: Any, name: str) -> tuple[str, ...]:
    """The versions AWSCURRENT and, if there is one, AWSPREVIOUS of a secret."""
    current = client.get_secret_value(SecretId=name, VersionStage="AWSCURRENT")["SecretString"]
    try:
        return current, client.get_secret_value(SecretId=name, VersionStage="AWSPREVIOUS")["SecretString"]
    except client.exceptions.ResourceNotFoundException:
        return (current,)


def from_parameter_store(client: Any, name: str) -> tuple[str, ...]:
    """The newest version of a parameter and, if there is one, the version before it."""
    newest = client.get_parameter(Name=name, WithDecryption=True)["Parameter"]
    if newest["Version"] == 1:
        return (newest["Value"],)
    previous = f"{name}:{newest['Version'] - 1}"
    try:
        return newest["Value"], client.get_parameter(Name=previous, WithDecryption=True)["Parameter"]["Value"]
    except (client.exceptions.ParameterVersionNotFound, client.exceptions.ParameterNotFound):
        return (newest["Value"],)


READERS = {"secretsmanager": from_secrets_manager, "ssm": from_parameter_store}  # by botocore's name of the service


def _connect(service: str, config: Config) -> Any:
    return botocore.session.Session().create_client(service, config=config)


def reader(reference: str, connect: Callable[..., Any] = _connect) -> Callable[[], tuple[str, ...]]:
    """A function that reads the secret `secretsmanager:NAME` or `ssm:NAME`, newest value first.

    NAME is a name or an ARN. It needs the permission `secretsmanager:GetSecretValue` or `ssm:GetParameter`, and
    `kms:Decrypt` for a key of one's own. Raises `Misconfigured` for another reference; the function raises
    `StoreFailed`, whose message contains neither the name nor a value.
    """
    service, _, name = reference.partition(":")
    if service not in READERS or not name:
        raise Misconfigured("a secret that AWS keeps is named secretsmanager:NAME or ssm:NAME")
    client = Lazy(lambda: connect(service, config=QUICK))

    def read() -> tuple[str, ...]:
        try:
            return READERS[service](client(), name)
        except ClientError as error:
            problem = error.response["Error"]["Code"]
        except (BotoCoreError, KeyError) as error:
            problem = type(error).__name__
        raise StoreFailed(f"the secret that {service} keeps could not be read ({problem})")

    return read

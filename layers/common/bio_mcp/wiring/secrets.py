"""Secrets, given directly or by the name under which AWS stores them."""

from collections.abc import Callable, Sequence

from bio_mcp.errors import Misconfigured
from bio_mcp.refreshing import RefreshingValue

STORED = ("secretsmanager:", "ssm:")  # prefixes of the names of secrets that AWS stores


def stored_secret(reference: str) -> Callable[[], Sequence[str]]:
    """A function that reads the secret `secretsmanager:NAME` or `ssm:NAME` from AWS, newest version first.

    Raises `Misconfigured` for another reference, and if boto3 is not installed.
    """
    try:
        from bio_mcp.adapters.aws.secrets import reader
    except ModuleNotFoundError:
        raise Misconfigured(
            "a secret that AWS keeps is read by boto3; install the extra aws, as docs/runbook.md says"
        ) from None
    return reader(reference)


def secret_of(setting: str) -> Callable[[], str] | None:
    """A function that returns the secret, in its newest version if AWS stores it; None where the setting is empty."""
    if setting.startswith(STORED):
        value = RefreshingValue(stored_secret(setting))
        return lambda: value.get()[0]
    return (lambda: setting) if setting else None

"""Secrets that we give out and remember by their hash alone, and whose they are."""

import hashlib
import hmac
import secrets

from bio_mcp.callers import Caller

BYTES = 32


def new_secret() -> str:
    """A secret of 256 random bits, in characters of URLs."""
    return secrets.token_urlsafe(BYTES)


def hashed(secret: str) -> str:
    """What is stored of a secret. It is random, so that no slow hash is needed."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def owner_of(caller: Caller) -> str:
    """The owner of a person's sessions, invitations and grants, by tenant and subject."""
    return f"person:{len(caller.tenant)}:{caller.tenant}:{caller.subject}"


def derived(secret: str, purpose: str) -> bytes:
    """A key for one purpose, from the secret that signs access tokens: what one signs is nothing to another."""
    return hmac.new(secret.encode(), f"bio-mcp: {purpose}".encode(), hashlib.sha256).digest()

"""Identity assertions (ID-JAG) by which an organisation's identity provider lets people in, without a page of ours.

draft-ietf-oauth-identity-assertion-authz-grant-04, and MCP's extension for enterprise-managed authorization.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from bio_mcp.callers import SCOPES, Caller, Scope
from bio_mcp.doors.auth.tokens import LEEWAY_S, TokenRejected, Tokens, public_keys, scopes_in
from bio_mcp.errors import Misconfigured
from bio_mcp.refreshing import RefreshingValue
from bio_mcp.settings import Settings

PROFILE = "urn:ietf:params:oauth:grant-profile:id-jag"  # in the metadata of an authorization server
KIND = "oauth-id-jag+jwt"  # in the header of an assertion
ALGORITHMS = ("RS256", "ES256")
LONGEST = timedelta(hours=1)  # from iat to exp: for so long an id is stored, so that it is good once
MAX_WORD = 256  # characters of a subject, tenant or id


@dataclass(frozen=True)
class Assertion:
    """What a provider asserts of a person: `caller`, whose scopes are as the provider named them, maybe none. `key` is
    its own, to be used once before `expires`."""

    caller: Caller
    key: str
    expires: datetime


@dataclass(frozen=True)
class IdentityProvider:
    """A provider whose assertions are `tokens` of its issuer for ours.

    `subject` and `tenant` are the claims that name a person and their tenant; with "" there are no tenants. `scopes`
    are the most that an assertion allows, and what one allows that names none.
    """

    tokens: Tokens
    subject: str
    tenant: str
    scopes: Collection[Scope]

    def read(self, assertion: str, client_id: str, is_for_us: Callable[[str], bool]) -> Assertion:
        """What a client of this id may be told with it. Raises `TokenRejected`, or a `Failure` without the keys."""
        claims = self.tokens.claims(assertion)
        if claims["aud"] not in (self.tokens.audience, [self.tokens.audience]):
            raise TokenRejected("the assertion is for others too")
        if claims["client_id"] != client_id:
            raise TokenRejected("the assertion is for another client")
        resources = claims.get("resource", [])
        if isinstance(resources, str):
            resources = [resources]
        if resources and not any(isinstance(each, str) and is_for_us(each) for each in resources):
            raise TokenRejected("the assertion is for another resource")
        end = int(claims["exp"])
        if end - int(claims["iat"]) > LONGEST.total_seconds():
            raise TokenRejected("the assertion is valid for more than an hour")
        tenant = self._word(claims, self.tenant) if self.tenant else ""
        return Assertion(
            Caller(self._word(claims, self.subject), frozenset(scopes_in(claims)), tenant, client_id),
            f"{len(self.tokens.issuer)}:{self.tokens.issuer}:{self._word(claims, 'jti')}",
            datetime.fromtimestamp(end + 2 * LEEWAY_S, UTC),
        )

    def _word(self, claims: Any, name: str) -> str:
        value = claims.get(name)
        if not isinstance(value, str) or not value.strip() or len(value) > MAX_WORD or not value.isprintable():
            raise TokenRejected(f"the assertion lacks {name}")
        return value


def identity_provider(settings: Settings, issuer: str, read_keys: Callable[[], bytes]) -> IdentityProvider:
    """The provider of the settings, for our `issuer`. Raises `Misconfigured`."""
    scopes: list[Scope] = [each for each in SCOPES if each in settings.idp_scopes]
    if len(scopes) != len(set(settings.idp_scopes)) or not scopes:
        raise Misconfigured(f"MCP_IDP_SCOPES takes one at least of {', '.join(SCOPES)}, and no other")
    keys = RefreshingValue(lambda: public_keys(read_keys(), ALGORITHMS))
    tokens = Tokens(ALGORITHMS, keys, issuer, settings.idp_issuer, KIND, ("iat", "client_id"))
    return IdentityProvider(tokens, settings.idp_subject_claim, settings.idp_tenant_claim, scopes)

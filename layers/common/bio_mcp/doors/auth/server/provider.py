"""What the MCP SDK's handlers of OAuth ask: which clients there are, and what people allowed them."""

import logging
import re
from collections.abc import Callable
from functools import partial

from anyio.to_thread import run_sync
from mcp.server.auth.provider import (
    AuthorizationParams,
    AuthorizeError,
    OAuthAuthorizationServerProvider,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from bio_mcp.doors.auth.server.access_tokens import GrantedToken
from bio_mcp.doors.auth.server.clients import PREFIX, Client, Registrations, is_address
from bio_mcp.doors.auth.server.grants import Code, Grants, Refresh
from bio_mcp.doors.auth.server.requests import SealedRequests
from bio_mcp.errors import InvalidInput, UpstreamFailed

CHALLENGE = re.compile(r"[\w-]{43}", re.ASCII)  # SHA-256 in base64url

log = logging.getLogger(__name__)


class Provider(OAuthAuthorizationServerProvider[Code, Refresh, GrantedToken]):
    """Our side of the SDK's handlers. `at_address` returns the client whose id is an address.

    The store is asked in threads.
    """

    def __init__(
        self,
        registrations: Registrations,
        at_address: Callable[[str], Client | None],
        grants: Grants,
        requests: SealedRequests,
    ) -> None:
        self._registrations = registrations
        self._at_address = at_address
        self._grants = grants
        self._requests = requests

    async def get_client(self, client_id: str) -> Client | None:
        """The client of this id; None for an unknown one, and one whose description cannot be had."""
        if client_id.startswith(PREFIX):
            return await run_sync(self._registrations.find, client_id)
        if not is_address(client_id):
            return None
        try:
            return await run_sync(self._at_address, client_id)
        except (InvalidInput, UpstreamFailed) as failure:
            log.warning("a client's description cannot be used: %s", failure)
            return None

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        """Complete `client_info`, which is sent back to the client."""
        await run_sync(self._registrations.register, client_info)

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        """The address of the page that asks the person. Raises `AuthorizeError`."""
        if not CHALLENGE.fullmatch(params.code_challenge):
            raise AuthorizeError("invalid_request", "code_challenge is a SHA-256 in base64url (S256)")
        if not self._requests.is_for_us(params.resource):
            raise AuthorizeError("invalid_target", "resource is not this server's")
        return self._requests.page(client.client_id, params)

    async def load_authorization_code(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002  the handler compares it
        authorization_code: str,
    ) -> Code | None:
        """The code, which the handler compares with the client, the redirect URI and the verifier."""
        return await run_sync(self._grants.code, authorization_code)

    async def exchange_authorization_code(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002
        authorization_code: Code,
    ) -> OAuthToken:
        """The tokens for the code."""
        return await run_sync(self._grants.exchange, authorization_code)

    async def load_refresh_token(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002
        refresh_token: str,
    ) -> Refresh | None:
        """The refresh token, which the handler compares with the client."""
        return await run_sync(self._grants.refresh_token, refresh_token)

    async def exchange_refresh_token(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002
        refresh_token: Refresh,
        scopes: list[str],
    ) -> OAuthToken:
        """The next tokens."""
        return await run_sync(partial(self._grants.refresh, refresh_token, scopes))

    async def load_access_token(self, token: str) -> GrantedToken | None:
        """The access token, if it is good and one of a grant."""
        return await run_sync(self._grants.tokens.read, token)

    async def revoke_token(self, token: GrantedToken | Refresh) -> None:
        """End the grant of a token, so that no further tokens come of it."""
        await run_sync(self._grants.end, token.grant)

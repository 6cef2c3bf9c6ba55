"""The endpoints that clients use, by the MCP SDK's handlers, and what these leave out."""

import json

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.provider import construct_redirect_uri
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bio_mcp.doors.auth.forms import field, read_form
from bio_mcp.doors.auth.pages import problem
from bio_mcp.doors.auth.server.provider import Provider
from bio_mcp.doors.auth.server.requests import CONSENT, SealedRequests

NOT_STORED = {"cache-control": "no-store", "pragma": "no-cache"}


class Endpoints:
    """Handlers of `/authorize`, `/token` and `/revoke`.

    `asked` is asked for clients where a person is signed in, `known` elsewhere: it fetches nothing.
    """

    def __init__(self, asked: Provider, known: Provider, requests: SealedRequests, issuer: str) -> None:
        self._authorization = AuthorizationHandler(asked)
        self._authenticator = ClientAuthenticator(known)
        self._token = TokenHandler(known, self._authenticator)
        self._known = known
        self._requests = requests
        self._issuer = issuer

    async def authorize(self, request: Request) -> Response:
        """To the page that asks the person; what is wrong with a request is told to its client where that is safe, and
        to the person where it is not."""
        if _repeated(request.query_params):
            return problem(request, "A parameter of this request is given twice.")
        response = await self._authorization.handle(request)
        if location := response.headers.get("location"):
            if not location.startswith(f"{CONSENT}?"):
                response.headers["location"] = construct_redirect_uri(location, iss=self._issuer)
            return response
        reason = json.loads(bytes(response.body)).get("error_description") or ""
        return problem(request, f"The program that sent you here made a request that is not answered: {reason}")

    async def token(self, request: Request) -> Response:
        """Tokens for a code or a refresh token."""
        form = await read_form(request)
        if _repeated(form):
            return _refused("invalid_request", "a parameter is given twice")
        if not self._requests.is_for_us(field(form, "resource") or None):
            return _refused("invalid_target", "resource is not this server's")
        response: Response = await self._token.handle(request)
        return response

    async def revoke(self, request: Request) -> Response:
        """End the grant of a refresh or access token (RFC 7009). What is none of the client's is answered alike."""
        form = await read_form(request)
        try:
            client = await self._authenticator.authenticate_request(request)
        except AuthenticationError as error:
            return _refused("invalid_client", error.message, 401)
        token = field(form, "token")
        if not token:
            return _refused("invalid_request", "token is missing")
        found = await self._known.load_refresh_token(client, token) or await self._known.load_access_token(token)
        if found and found.client_id == client.client_id:
            await self._known.revoke_token(found)
        return Response(None, 200, NOT_STORED)


def _refused(error: str, description: str, status: int = 400) -> Response:
    return JSONResponse({"error": error, "error_description": description}, status, NOT_STORED)


def _repeated(given: ImmutableMultiDict[str, object]) -> bool:
    """Whether a parameter is given more than once (RFC 6749, 3.1)."""
    return len(given.multi_items()) != len(given)

"""The page on which a signed-in person decides what a client may do."""

import hashlib
import hmac
import logging
from dataclasses import dataclass
from http import HTTPStatus

from anyio.to_thread import run_sync
from mcp.server.auth.provider import AuthorizationParams, construct_redirect_uri
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from bio_mcp.callers import MEANING, SCOPES, Caller
from bio_mcp.doors.auth.forms import field, read_form
from bio_mcp.doors.auth.pages import LEADS_AWAY, page, problem
from bio_mcp.doors.auth.permissions import KEY
from bio_mcp.doors.auth.secrets import derived
from bio_mcp.doors.auth.server.clients import Client, is_address
from bio_mcp.doors.auth.server.grants import Grants
from bio_mcp.doors.auth.server.provider import Provider
from bio_mcp.doors.auth.server.redirects import host_of
from bio_mcp.doors.auth.server.requests import SealedRequests

TOO_OLD = "This request is too old, or not whole. Go back to the program that sent you here, and connect again."
FORGED = "This form came from elsewhere. Go back to the program that sent you here, and connect again."
NO_SCOPE = "Nothing was chosen that the program may do, so nothing was allowed."

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """What is decided: which client, its request, sealed and open, and the scopes that the person could allow it."""

    client: Client
    sealed: str
    params: AuthorizationParams
    scopes: list[str]


class ConsentPage:
    """The handlers of the page; `cookie` is the name of the session's. They are reached by people who are signed in."""

    def __init__(
        self, provider: Provider, grants: Grants, requests: SealedRequests, *, issuer: str, cookie: str
    ) -> None:
        self._provider = provider
        self._grants = grants
        self._requests = requests
        self._issuer = issuer
        self._cookie = cookie

    async def show(self, request: Request) -> Response:
        """Say who asks for what, and where an answer goes."""
        asked = await self._asked(request, request.query_params.get("request", ""))
        return self._page(request, asked) if asked else problem(request, TOO_OLD)

    async def decide(self, request: Request) -> Response:
        """Send the person back to the client, with a code or the refusal."""
        form = await read_form(request)
        asked = await self._asked(request, field(form, "request"))
        if asked is None:
            return problem(request, TOO_OLD)
        if not hmac.compare_digest(self._token(request, asked).encode(), field(form, "token").encode()):
            return problem(request, FORGED, HTTPStatus.FORBIDDEN)
        if field(form, "decision") != "allow":
            return self._back(asked, error="access_denied")
        return await self._allow(request, asked, form)

    async def _allow(self, request: Request, asked: Asked, form: FormData) -> Response:
        chosen = [scope for scope in asked.scopes if scope in form.getlist("scope")]
        if not chosen:
            return problem(request, NO_SCOPE)
        caller: Caller = request.scope[KEY]
        params = asked.params.model_copy(update={"scopes": chosen})
        log.info("allowed %s: %s", asked.client.shown, " ".join(chosen), extra={"subject": caller.subject})
        return self._back(asked, code=await run_sync(self._grants.begin, caller, asked.client, params))

    async def _asked(self, request: Request, sealed: str) -> Asked | None:
        opened = self._requests.open(sealed)
        client = await self._provider.get_client(opened[0]) if opened else None
        if opened is None or client is None:
            return None
        _, params = opened
        caller: Caller = request.scope[KEY]
        wanted = params.scopes or SCOPES
        return Asked(client, sealed, params, [each for each in SCOPES if each in wanted and each in caller.scopes])

    def _back(self, asked: Asked, **answer: str) -> Response:
        """To the client, with whose answer it is (RFC 9207)."""
        to = construct_redirect_uri(
            str(asked.params.redirect_uri), **answer, state=asked.params.state, iss=self._issuer
        )
        headers = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
        return RedirectResponse(to, HTTPStatus.SEE_OTHER, headers)

    def _token(self, request: Request, asked: Asked) -> str:
        """What only a form that this session was shown for this request holds."""
        key = derived(self._requests.keys()[0].value, "forms")
        about = f"{request.cookies.get(self._cookie, '')} {asked.sealed}"
        return hmac.new(key, about.encode(errors="replace"), hashlib.sha256).hexdigest()

    def _page(self, request: Request, asked: Asked) -> Response:
        return page(
            request,
            "consent.html",
            headers=LEADS_AWAY,
            name=asked.client.shown,
            address=asked.client.client_id if is_address(asked.client.client_id) else "",
            back=host_of(asked.params.redirect_uri),
            local=asked.params.redirect_uri.scheme != "https",
            scopes=[(scope, MEANING[scope]) for scope in SCOPES if scope in asked.scopes],
            sealed=asked.sealed,
            token=self._token(request, asked),
        )

"""Clients of the authorization server: those that registered themselves, and those whose id is an address."""

import base64
import hmac
import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from mcp.server.auth.provider import RegistrationError
from mcp.shared.auth import JWT_BEARER_GRANT_TYPE, InvalidRedirectUriError, OAuthClientInformationFull
from pydantic import AnyUrl

from bio_mcp.callers import SCOPES
from bio_mcp.doors.auth.access import is_loopback
from bio_mcp.doors.auth.sessions import derived
from bio_mcp.doors.auth.tokens import Key, Keys
from bio_mcp.errors import InvalidInput

MAX_URI = 512  # characters
PROGRAMS = {"claude", "codex", "cursor", "vscode", "vscode-insiders", "windsurf", "zed"}
"""Schemes without a dot of programs on people's machines; RFC 8252 asks for one with a dot, which any program may
have."""
CODE = {"javascript", "vbscript", "data"}
"""What a browser may run, or show as a page; no part of a program's scheme is called so, nor all parts together."""


def is_allowed(uri: str) -> bool:
    """Whether it is an https address, one of this machine's loopback interface by http, or a program's own scheme."""
    try:
        parts = urlsplit(uri)
        host = parts.hostname or ""
        AnyUrl(uri)
    except ValueError:
        return False
    if len(uri) > MAX_URI or not uri.isascii() or not uri.isprintable() or " " in uri or "\\" in uri:
        return False
    if "#" in uri or "@" in parts.netloc:
        return False
    if parts.scheme in ("https", "http"):
        return bool(host) and (parts.scheme == "https" or is_loopback(host))
    labels = ["".join(filter(str.isalpha, label)) for label in parts.scheme.split(".")]
    named = len(labels) > 1 and all(labels) and CODE.isdisjoint([*labels, "".join(labels)])
    return named or parts.scheme in PROGRAMS


def comparable(uri: AnyUrl | str) -> str:
    """What two redirect URIs are compared by: themselves, but for the port of a loopback address (RFC 8252, 7.3)."""
    written = str(AnyUrl(str(uri)))
    parts = urlsplit(written)
    if parts.scheme == "http" and is_loopback(parts.hostname or ""):
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        return parts._replace(netloc=str(host)).geturl()
    return written


def host_of(uri: AnyUrl | str) -> str:
    """What a person is told of where they are sent back to."""
    parts = urlsplit(str(uri))
    if parts.scheme == "http":
        return "this computer"
    return parts.hostname or "" if parts.scheme == "https" else f"the program {parts.scheme}"


MAX_NAME = 80  # characters
MAX_REDIRECTS = 10
MAX_REGISTERED = 1_500  # characters of a client's redirect URIs, which come back in its id
PUBLIC, CONFIDENTIAL = "none", "client_secret_post"  # how clients authenticate
REGISTERED, MANAGED = "registered.", "managed."  # how ids begin that we give out
MAC_BYTES = 16
NOT_A_CLIENT = "its address gives no description of a client: a JSON object with this address as client_id"


class Client(OAuthClientInformationFull):
    """A client: its name as a person is shown it, and where people are sent back to."""

    def validate_redirect_uri(self, redirect_uri: AnyUrl | None) -> AnyUrl:
        """The URI to send back to. Raises `InvalidRedirectUriError` unless it is allowed and the client gave it; any
        port of loopback is as good."""
        given = self.redirect_uris or []
        if redirect_uri is None and len(given) == 1:
            redirect_uri = given[0]
        known = redirect_uri is not None and comparable(redirect_uri) in map(comparable, given)
        if redirect_uri is None or not known or not is_allowed(str(redirect_uri)):
            raise InvalidRedirectUriError("redirect_uri is none of those that the client gave")
        return redirect_uri

    def validate_scope(self, requested_scope: str | None) -> list[str] | None:
        """The scopes of this server among those asked for; None where none of them is, and the person chooses."""
        words = (requested_scope or "").split()
        return [scope for scope in SCOPES if scope in words] or None

    @property
    def shown(self) -> str:
        """What a person is told the client is called."""
        return self.client_name or host_of((self.redirect_uris or [AnyUrl("about:blank")])[0])


def client(
    client_id: str, redirects: Iterable[str], name: str = "", secret: str = "", issued: int | None = None
) -> Client:
    """A client, public unless it has a secret."""
    return Client(
        client_id=client_id,
        redirect_uris=[AnyUrl(uri) for uri in redirects],
        client_name=name or None,
        token_endpoint_auth_method=CONFIDENTIAL if secret else PUBLIC,
        client_secret=secret or None,
        client_id_issued_at=issued,
    )


def plain_name(name: object) -> str:
    """A name without what is not printed or turns text around."""
    return "".join(each for each in name if each.isprintable())[:MAX_NAME].strip() if isinstance(name, str) else ""


def register(wanted: OAuthClientInformationFull, keys: Keys) -> None:
    """Give a client that registers itself (RFC 7591) an id and, unless it is public, a secret. Raises
    `RegistrationError`.

    Nothing is stored: the id of a client holds what it registered, sealed by our key, so strangers cannot fill a store.
    Its secret follows from its id. Both end when the key does.
    """
    redirects = [str(uri) for uri in wanted.redirect_uris or []]
    if not redirects or len(redirects) > MAX_REDIRECTS or sum(map(len, redirects)) > MAX_REGISTERED:
        raise RegistrationError("invalid_redirect_uri", f"give 1 to {MAX_REDIRECTS} redirect URIs, of some length")
    if refused := [uri for uri in redirects if not is_allowed(uri)]:
        at = redirects.index(refused[0])
        raise RegistrationError("invalid_redirect_uri", f"redirect_uris[{at}]: https, or http on loopback")
    public, name = wanted.token_endpoint_auth_method == PUBLIC, plain_name(wanted.client_name)
    content = {"u": redirects, "n": name, "p": public, "t": wanted.client_id_issued_at}
    wanted.client_id, secret = _sealed(REGISTERED, _packed(content), keys[0])
    wanted.client_secret = None if public else secret
    wanted.token_endpoint_auth_method = PUBLIC if public else CONFIDENTIAL
    wanted.client_name = name or None


def managed(name: str, keys: Keys) -> Client:
    """The client that an operator lets present assertions of the identity provider; the same name, the same client."""
    client_id, secret = _sealed(MANAGED, _packed({"n": plain_name(name)}), keys[0])
    return _managed(client_id, secret, plain_name(name))


def _managed(client_id: str, secret: str, name: str) -> Client:
    return Client(
        client_id=client_id,
        client_secret=secret,
        client_name=name,
        redirect_uris=None,
        grant_types=[JWT_BEARER_GRANT_TYPE],
        token_endpoint_auth_method=CONFIDENTIAL,
    )


def is_sealed(client_id: str) -> bool:
    """Whether it may be an id that `registered` knows."""
    return client_id.startswith((REGISTERED, MANAGED))


def registered(client_id: str, keys: Keys) -> Client | None:
    """The client that registered itself, or an operator's, that was given this id; None for an id of nobody's."""
    kind, _, rest = client_id.partition(".")
    packed, _, _ = rest.partition(".")
    for key in keys:
        ours, secret = _sealed(f"{kind}.", packed, key)
        if hmac.compare_digest(ours.encode(), client_id.encode()):
            content = json.loads(base64.urlsafe_b64decode(packed + "=="))  # more padding than is needed is read over
            if f"{kind}." == MANAGED:
                return _managed(client_id, secret, content["n"])
            return client(client_id, content["u"], content["n"], "" if content["p"] else secret, content["t"])
    return None


def _packed(content: object) -> str:
    written = json.dumps(content, separators=(",", ":"))
    return base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")


def _sealed(kind: str, packed: str, key: Key) -> tuple[str, str]:
    """The id of this kind that holds what is known of a client, sealed by the key, and the client's secret."""
    seal = hmac.digest(derived(key.value, "registrations of clients"), packed.encode(), "sha256")[:MAC_BYTES]
    client_id = f"{kind}{packed}.{base64.urlsafe_b64encode(seal).decode().rstrip('=')}"
    return client_id, hmac.digest(derived(key.value, "secrets of clients"), client_id.encode(), "sha256").hex()


def is_address(client_id: str) -> bool:
    """Whether a client's id is the address of its description (Client ID Metadata Documents)."""
    try:
        parts = urlsplit(client_id)
    except ValueError:
        return False
    steps = parts.path.split("/")
    return (
        parts.scheme == "https" and parts.path not in ("", "/") and not ("#" in client_id or {".", ".."} & set(steps))
    )


def described(address: str, body: bytes) -> Client:
    """The client that the description at `address` is of. Raises `InvalidInput` where it is of none."""
    try:
        read = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput(NOT_A_CLIENT) from None
    if not isinstance(read, dict) or read.get("client_id") != address:
        raise InvalidInput(NOT_A_CLIENT)
    others = read.get("token_endpoint_auth_methods_supported")  # one description serves servers that offer others
    methods = [read.get("token_endpoint_auth_method", PUBLIC), *(others if isinstance(others, list) else [])]
    if "client_secret" in read or PUBLIC not in methods:
        raise InvalidInput("its description asks for a way to authenticate that is not offered; take none")
    given = read.get("redirect_uris")
    uris = [uri for uri in given if isinstance(uri, str) and is_allowed(uri)] if isinstance(given, list) else []
    if not uris:
        raise InvalidInput("its description has no redirect URI that is https, or http on loopback")
    return client(address, uris[:MAX_REDIRECTS], plain_name(read.get("client_name")))

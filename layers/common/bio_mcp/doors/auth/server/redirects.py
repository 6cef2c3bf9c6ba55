"""Where a client may have a person sent back to: at no address that runs what the answer holds."""

from urllib.parse import urlsplit

from pydantic import AnyUrl

from bio_mcp.doors.loopback import is_loopback

MAX_URI = 512  # characters
PROGRAMS = {"claude", "codex", "cursor", "vscode", "vscode-insiders", "windsurf", "zed"}
"""Schemes without a dot of programs on people's machines; RFC 8252 asks for one with a dot, which any program may
have."""


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
    if parts.fragment or "#" in uri or "@" in parts.netloc:
        return False
    if parts.scheme in ("https", "http"):
        return bool(host) and (parts.scheme == "https" or is_loopback(host))
    return "." in parts.scheme or parts.scheme in PROGRAMS


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

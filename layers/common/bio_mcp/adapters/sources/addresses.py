"""Which hosts may be asked, and which of their addresses."""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from urllib.parse import SplitResult, urlsplit

from bio_mcp.errors import Forbidden, InvalidInput, UpstreamFailed

SETTING = "BIO_MCP_INGEST_HOSTS"
HTTPS = 443
MAX_URL = 2_048  # characters
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_UNICAST = ipaddress.ip_network("2000::/3")  # all that IANA gives out; the forms that hide an IPv4 address are beyond
_ISATAP = (0x00005EFE, 0x02005EFE)  # before the IPv4 address, in the last 64 bits
_NOBODYS = (  # public by their registry, and a cloud's own
    ipaddress.ip_network("168.63.129.16/32"),  # Azure's, for its machines alone
    ipaddress.ip_network("192.0.0.0/24"),  # of protocols; Oracle's metadata
    ipaddress.ip_network("192.88.99.0/24"),  # relays of 6to4
    ipaddress.ip_network("3fff::/20"),  # documentation
)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[..., Sequence[tuple[object, ...]]]


def checked_url(url: str, allowed: Sequence[str] | None) -> SplitResult:
    """The parts of an address that may be fetched, its host in ASCII and lower case, without a fragment.

    `allowed` are the hosts; None allows every host that has public addresses alone, as `public_addresses` finds out.
    Raises `InvalidInput` for what is no https address or holds a password, `Forbidden` for a host that is not allowed.
    """
    if len(url) > MAX_URL or any(not each.isprintable() or each in ' \\"<>' for each in url):
        raise InvalidInput("source: this is not an https address")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip(".").encode("idna").decode().lower(), parts.port or HTTPS
    except ValueError:  # UnicodeError too
        raise InvalidInput("source: this is not an https address") from None
    if parts.scheme != "https" or not host:
        raise InvalidInput("source: this is not an https address")
    if "@" in parts.netloc:
        raise InvalidInput("source: an address with a name or a password is not fetched")
    if allowed is not None and not any(_allows(each, host, port) for each in allowed):
        raise Forbidden(
            f"this host may not be asked for documents; {SETTING} names those that may, and its operator sets it",
            setting=SETTING,
        )
    named = f"[{host}]" if ":" in host else host
    return parts._replace(netloc=named if port == HTTPS else f"{named}:{port}", path=parts.path or "/", fragment="")


def _allows(entry: str, host: str, port: int) -> bool:
    """Whether an entry of the setting allows this host: `name`, `name:port`, or `*.name` for all below it."""
    try:
        parts = urlsplit(f"//{entry.lower()}")
        name, allowed_port = parts.hostname or "", parts.port or HTTPS
    except ValueError:
        return False
    return port == allowed_port and (host == name or (name.startswith("*.") and host.endswith(name[1:])))


def public_addresses(
    host: str, port: int, resolve: Resolve = socket.getaddrinfo, *, private: bool = False
) -> list[str]:
    """The addresses of a host, all of them public: one that is not may be a service that trusts this machine.

    They are what to connect to: a name that is looked up again may have another answer by then. `private` allows the
    others too, for tests.
    """
    try:
        found = list(dict.fromkeys(str(each[4][0]) for each in resolve(host, port, type=socket.SOCK_STREAM)))  # type: ignore[index]
    except (OSError, UnicodeError):
        raise UpstreamFailed("the address of this host could not be found; check its name, or try again") from None
    if not found or not (private or all(is_public(each) for each in found)):
        raise Forbidden("this host has a private address, and is not asked")
    return found


def is_public(address: str) -> bool:
    """Whether anybody on the internet may have this address: not this machine's, its network's or its cloud's."""
    try:
        given = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_anybodys(each) for each in _also(given))


def _is_anybodys(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    return address.is_global and not address.is_multicast and not any(address in each for each in _NOBODYS)


def _also(address: Address) -> list[Address]:
    """The address, or the IPv4 address that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    within = address.ipv4_mapped or address.sixtofour
    return [within] if within else [address, *(address.teredo or ()), *_isatap(address)]


def _isatap(address: ipaddress.IPv6Address) -> list[Address]:
    is_isatap = int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)] if is_isatap else []

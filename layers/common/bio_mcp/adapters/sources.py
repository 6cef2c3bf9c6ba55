"""Documents to be ingested: from folders of this machine and from the web."""

import ipaddress
import os
import re
import socket
import ssl
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from socket import getaddrinfo
from threading import Timer
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

import httpx

from bio_mcp.adapters.http import TracedClient, read_body, trusted
from bio_mcp.adapters.retry import Backoff, retry
from bio_mcp.deadline import Deadline
from bio_mcp.errors import DeadlineExceeded, Forbidden, InvalidInput, UnreadableDocument, UpstreamFailed
from bio_mcp.ports.sources import MAX_BYTES, MAX_FILES, SUFFIXES, SourceFile, Sources
from bio_mcp.scope import call_deadline

SETTING = "BIO_MCP_INGEST_ROOTS"
NOWHERE = Path("/dev/null/nowhere")
KERNEL = tuple(map(Path, ("/proc", "/sys", "/dev")))
_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LAST = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not keep the opener waiting


class Folders:
    """Files and folders by their paths, the `roots` those below which anybody may read."""

    def __init__(self, roots: Sequence[str], max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES) -> None:
        self._named = [Path(os.path.normpath(Path(each).expanduser().absolute())) for each in roots]
        self._roots = [_real(each) for each in self._named]
        self._max_bytes, self._max_files = max_bytes, max_files

    def locate(self, source: str, *, local: bool) -> str:
        """The real path of what is named. Nobody learns whether there is anything outside the allowed folders."""
        named = _path(source)
        with _readable():
            real = _real(named.expanduser()) if local else self._below_a_root(named)
            self._check(real, local)
            if not real.exists():
                raise InvalidInput(f"there is no file or folder {source[:200]!r}")
        return str(real)

    def files(self, location: str, *, local: bool) -> list[SourceFile]:
        """The file, or every document of the folder and those in it. Links to folders are not followed."""
        top = Path(location)
        self._check(top, local)
        if not top.is_dir():
            return [SourceFile(_shown(top.name), location)]
        found: dict[Path, SourceFile] = {}
        for path in _walk(top):
            real = _real(path)
            if not self._may_read(real, local) or not real.is_file():
                continue
            found.setdefault(real, SourceFile(_shown(str(path.relative_to(top))), str(real)))
            if len(found) > self._max_files:
                raise InvalidInput(f"this folder has more than {self._max_files:,} documents; name folders in it")
        return sorted(found.values(), key=lambda each: os.fsencode(each.address))

    def read(self, address: str, *, local: bool) -> bytes:
        """The content of a regular file."""
        path = Path(address)
        self._check(path, local)
        with _readable(), self._opened(path, local) as opened:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                raise InvalidInput("it is not a regular file")
            with os.fdopen(opened, "rb", closefd=False) as file:
                content = file.read(self._max_bytes + 1)
        if len(content) > self._max_bytes:
            raise UnreadableDocument(f"it is larger than {self._max_bytes >> 20} MB")
        return content

    def _below_a_root(self, named: Path) -> Path:
        """The real path of what somebody else names: absolute, or relative to one of the allowed folders.

        Only paths that look allowed are looked up at all.
        """
        roots = [*self._named, *self._roots]
        paths = [Path(os.path.normpath(root / named)) for root in roots]
        real = [_real(each) for each in paths if any(each.is_relative_to(root) for root in roots)]
        return next((each for each in real if self._root_of(each) and each.exists()), real[0] if real else NOWHERE)

    def _root_of(self, path: Path) -> Path | None:
        return next((root for root in self._roots if path.is_relative_to(root)), None)

    def _may_read(self, real: Path, local: bool) -> bool:
        kernel = any(real.is_relative_to(each) for each in KERNEL)
        return not kernel and (local or self._root_of(real) is not None)

    def _check(self, real: Path, local: bool) -> None:
        if not self._may_read(real, local):
            raise Forbidden(
                f"this path may not be read here; {SETTING} names the folders that may, and its operator sets it",
                setting=SETTING,
            )

    @contextmanager
    def _opened(self, real: Path, local: bool) -> Iterator[int]:
        """The open file. For others than the user each folder below the root is opened on the way, none by a link."""
        root = real.parent if local else self._root_of(real.parent) or real.parent
        with ExitStack() as opened:
            folder = os.open(root, _STEP)
            opened.callback(os.close, folder)
            *steps, name = real.relative_to(root).parts
            for step in steps:
                folder = os.open(step, _STEP, dir_fd=folder)
                opened.callback(os.close, folder)
            file = os.open(name, _LAST, dir_fd=folder)
            opened.callback(os.close, file)
            yield file


def _real(path: Path) -> Path:
    """The path without links; of one that leads in a circle, something that is no file."""
    return Path(os.path.realpath(path))


@contextmanager
def _readable() -> Iterator[None]:
    """Say why a file cannot be read, without its path."""
    try:
        yield
    except OSError as error:
        raise InvalidInput(f"it cannot be read: {(error.strerror or 'no reason given').lower()}") from None
    except RuntimeError:  # pathlib's word for the home of nobody
        raise InvalidInput("it cannot be read: there is no such home") from None


def _path(source: str) -> Path:
    """The path that a source names, by itself or as a `file:` address of this machine."""
    try:
        readable = bool(source.strip()) and b"\0" not in os.fsencode(source)
    except UnicodeEncodeError:  # for unpaired surrogates but those that stand for bytes
        readable = False
    if not readable:
        raise InvalidInput("this is not a path", field="source")
    if not source.lower().startswith("file:"):
        return Path(source)
    try:
        parts = urlsplit(source)
    except ValueError:
        raise InvalidInput("this is not a file address", field="source") from None
    path = unquote(parts.path, errors="surrogateescape")
    if parts.netloc not in ("", "localhost") or not path.startswith("/") or "\0" in path:
        raise InvalidInput("a file address is file:/// and an absolute path of this machine", field="source")
    return Path(path)


def _walk(folder: Path) -> Iterator[Path]:
    """Every document below the folder that is not hidden, nor in a hidden folder, in no order."""
    for above, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        documents = [each for each in names if not each.startswith(".") and Path(each).suffix.lower() in SUFFIXES]
        yield from (Path(above) / each for each in documents)


def _shown(name: str) -> str:
    """The name as text: what is not UTF-8 in it is replaced."""
    return os.fsencode(name).decode("utf-8", "replace")


FILES = "file"
FORMS = {FILES: "a path", "s3": "s3://bucket/key", "https": "https://..."}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://|(file):", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GuardedSources:
    """The port `Sources` over `places` by the scheme of what they read, each made when it is first asked for."""

    places: Mapping[str, Callable[[], Sources]]

    def locate(self, source: str, *, local: bool) -> str:
        return self._place(source).locate(source, local=local)

    def files(self, location: str, *, local: bool) -> list[SourceFile]:
        return self._place(location).files(location, local=local)

    def read(self, address: str, *, local: bool) -> bytes:
        return self._place(address).read(address, local=local)

    def _place(self, source: str) -> Sources:
        found = _SCHEME.match(source)
        scheme = (found[1] or found[2]).lower() if found else FILES
        if scheme == "http":
            raise InvalidInput(
                "http addresses are not read, as anybody on the way may change them; use https", field="source"
            )
        if scheme not in self.places:
            named = "a path is not read here" if scheme == FILES else f"{scheme} addresses are not read"
            forms = ", ".join(form for name, form in FORMS.items() if name in self.places)
            raise InvalidInput(f"{named}; a source is {forms} or zotero", field="source")
        return self.places[scheme]()


WEB_SETTING = "BIO_MCP_INGEST_HOSTS"
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
        raise InvalidInput("this is not an https address", field="source")
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip(".").encode("idna").decode().lower(), parts.port or HTTPS
    except ValueError:  # UnicodeError too
        raise InvalidInput("this is not an https address", field="source") from None
    if parts.scheme != "https" or not host:
        raise InvalidInput("this is not an https address", field="source")
    if "@" in parts.netloc:
        raise InvalidInput("an address with a name or a password is not fetched", field="source")
    if allowed is not None and not any(_allows(each, host, port) for each in allowed):
        raise Forbidden(
            f"this host may not be asked for documents; {WEB_SETTING} names those that may, and its operator sets it",
            setting=WEB_SETTING,
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
    return all(
        each.is_global
        and not each.is_multicast
        and (each.version == 4 or each in _UNICAST)
        and not any(each in nobodys for nobodys in _NOBODYS)
        for each in _also(given)
    )


def _also(address: Address) -> list[Address]:
    """The address, or the IPv4 address that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address in _NAT64:
        return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]
    if within := address.ipv4_mapped or address.sixtofour:
        return [within]
    is_isatap = int(address) >> 32 & 0xFFFFFFFF in _ISATAP
    isatap = [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)] if is_isatap else []
    return [address, *(address.teredo or ()), *isatap]


WAIT_S = 20.0  # for a connection, and between two pieces of an answer
HEADERS = {"accept-encoding": "identity", "user-agent": "bio-mcp"}
CONNECTED = ("connection.connect_tcp.complete", "connection.start_tls.complete")  # httpcore's names
PASSING = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True, kw_only=True)
class GuardedFetch:
    """Fetches what is at https addresses of the `hosts`; of any host with public addresses alone where they are None.

    An answer has `max_bytes` at most and takes `whole_s` seconds at most, after at most so many `redirects`.
    `private` allows private addresses, `context` has the certificates to trust; both are for tests.
    """

    hosts: Sequence[str] | None = field(kw_only=False)
    max_bytes: int
    whole_s: float
    redirects: int = 0
    accept: str = "*/*"
    resolve: Resolve = getaddrinfo
    private: bool = False
    context: ssl.SSLContext | None = None

    def fetch(self, url: str, deadline: Deadline | None = None) -> bytes:
        """What is at the address, by `deadline` or within `whole_s`.

        Raises `InvalidInput` for what cannot be fetched, its kind `Forbidden` for a host that may not be asked and its
        kind `UnreadableDocument` for an answer that is too long; `UpstreamFailed` for what may go well later.
        """
        deadline = deadline or call_deadline().share(self.whole_s)
        for _ in range(self.redirects + 1):
            parts = checked_url(url, self.hosts)
            answer = self._ask(parts, deadline)
            if isinstance(answer, bytes):
                return answer
            url = urljoin(parts.geturl(), answer)
        raise InvalidInput(
            "this address leads from one to the next without an end"
            if self.redirects
            else "this address leads to another one, which is not followed"
        )

    def _ask(self, parts: SplitResult, deadline: Deadline) -> bytes | str:
        """What is at the address, or where it says that this is."""
        port = parts.port or HTTPS
        connect_to = public_addresses(parts.hostname or "", port, self.resolve, private=self.private)[0]
        url = httpx.URL(parts.geturl()).copy_with(host=connect_to)
        headers = {**HEADERS, "accept": self.accept, "host": parts.netloc}
        limit = max(0.1, min(WAIT_S, deadline.remaining))
        client = TracedClient(verify=self.context or trusted(), trust_env=False, timeout=limit)
        try:
            with client, _ending_with(deadline) as trace:
                extensions = {"sni_hostname": parts.hostname, "trace": trace}
                with client.stream("GET", url, headers=headers, extensions=extensions) as response:
                    if response.has_redirect_location:
                        return response.headers["location"]
                    if (status := response.status_code) in PASSING:
                        raise UpstreamFailed(f"its host answers {status}; try again later")
                    if status != httpx.codes.OK:
                        raise InvalidInput(f"its host answers {status} instead of a document")
                    most = self.max_bytes
                    size = f"{most >> 20} MB" if most >= 1 << 20 else f"{most >> 10} kB"
                    too_long = UnreadableDocument(f"it is larger than {size}")
                    return read_body(response, deadline, "a document was fetched", too_long, most)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise InvalidInput("this is not an https address", field="source") from None
        except (httpx.HTTPError, DeadlineExceeded) as error:  # without the network's own words, which name the address
            if deadline.remaining > 0:
                raise UpstreamFailed(f"its host could not be reached, or broke off ({type(error).__name__})") from None
            call_deadline().check("a document was fetched")
            raise UpstreamFailed(f"it did not come within {self.whole_s:.0f} s") from None


@contextmanager
def _ending_with(deadline: Deadline) -> Iterator[Callable[[str, Mapping[str, Any]], None]]:
    """A trace for httpcore that ends the connection with the time, whatever drips: its own limits are of one read."""
    connected: list[socket.socket] = []

    def trace(event: str, details: Mapping[str, Any]) -> None:
        if event in CONNECTED:
            connected.append(details["return_value"].get_extra_info("socket"))

    def end() -> None:
        for each in connected:
            with suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # not the method of TLS, which goes on in the clear

    timer = Timer(max(0.1, deadline.remaining), end)
    timer.daemon = True
    timer.start()
    try:
        yield trace
    finally:
        timer.cancel()


REDIRECTS = 5
WHOLE_S = 120.0


@dataclass(frozen=True, kw_only=True)
class WebFiles(GuardedFetch):
    """Documents by their https addresses, at the `hosts` that may be asked."""

    max_bytes: int = MAX_BYTES
    whole_s: float = WHOLE_S
    redirects: int = REDIRECTS
    backoff: Backoff = field(default_factory=partial(Backoff, tries=3))

    def locate(self, source: str, *, local: bool) -> str:  # noqa: ARG002  who asks makes no difference
        """The address without a fragment, its host as it is looked up."""
        return checked_url(source, self.hosts).geturl()

    def files(self, location: str, *, local: bool) -> list[SourceFile]:  # noqa: ARG002
        """The one document at the address."""
        parts = checked_url(location, self.hosts)
        last = PurePosixPath(unquote(parts.path, errors="replace")).name or parts.hostname or ""
        return [SourceFile("".join(each for each in last if each.isprintable())[:200], location)]

    def read(self, address: str, *, local: bool) -> bytes:  # noqa: ARG002
        """The document, after at most `REDIRECTS` redirects."""
        deadline = call_deadline().share(self.whole_s)
        return retry(
            lambda: self.fetch(address, deadline), worth=UpstreamFailed, backoff=self.backoff, deadline=deadline
        )

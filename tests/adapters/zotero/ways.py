"""One library of Zotero, and the ways in which it is read."""

from contextlib import ExitStack
from pathlib import Path

from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.sources import Folders
from bio_mcp.adapters.zotero import LocalLibrary, Transport, WebLibrary
from bio_mcp.ports.zotero import ZoteroAttachment, ZoteroLibrary
from tests.adapters.clocks import Clock
from tests.support.zotero_server.library import Library, write_files
from tests.support.zotero_server.server import KEY, WEB, ZOTERO_7, ZOTERO_10, Server, serving


class Way:
    """A library as one adapter reads it. `publish` makes what was changed visible."""

    def __init__(self, library: Library, folder: Path, opened: ExitStack) -> None:
        self.library, self.folder, self.opened = library, folder, opened
        self.clock = Clock()
        self.port: ZoteroLibrary = self.open()

    def open(self) -> ZoteroLibrary:
        raise NotImplementedError

    def publish(self) -> None:
        """Servers read the library itself."""

    def stored(self) -> ZoteroAttachment:
        """A paper that is added to the library, as it is read."""
        key = self.library.attach(None, "paper.pdf", b"%PDF")
        self.publish()
        return self.port.items([key])[0].attachments[0]

    @property
    def backoff(self) -> Backoff:
        return Backoff(tries=4, rng=lambda: 0.5, sleep=self.clock.sleep)

    def transport(self, flavour: str) -> Transport:
        self.server: Server = self.opened.enter_context(serving(self.library, flavour, self.folder / "storage"))
        key = (lambda: KEY) if flavour == WEB else None
        transport = Transport(self.server.url, key=key, backoff=self.backoff, clock=self.clock)
        self.opened.callback(transport.close)
        return transport


class Web(Way):
    def open(self) -> ZoteroLibrary:
        return WebLibrary(self.transport(WEB), self.library.name, self.backoff)


class Zotero10(Way):
    flavour = ZOTERO_10

    def open(self) -> ZoteroLibrary:
        self.publish()
        return self.reading(self.folder / "storage")

    def reading(self, *folders: Path) -> LocalLibrary:
        allowed = Folders(list(map(str, folders)))
        return LocalLibrary(self.transport(self.flavour), self.library.name, allowed, self.backoff)

    def publish(self) -> None:
        write_files(self.library, self.folder)


class Zotero7(Zotero10):
    flavour = ZOTERO_7


WAYS = {"web": Web, "zotero 10": Zotero10, "zotero 7": Zotero7}

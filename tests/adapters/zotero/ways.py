"""One library of Zotero, and the ways in which it is read."""

from contextlib import ExitStack
from pathlib import Path

from bio_mcp.adapters.retry import Backoff
from bio_mcp.adapters.zotero.files import Files
from bio_mcp.adapters.zotero.local import PAGE as LOCAL_PAGE
from bio_mcp.adapters.zotero.local import LocalLibrary
from bio_mcp.adapters.zotero.reading import Reader
from bio_mcp.adapters.zotero.sqlite import SqliteLibrary
from bio_mcp.adapters.zotero.transport import Transport
from bio_mcp.adapters.zotero.web import PAGE, WebLibrary
from bio_mcp.ports.zotero import ZoteroLibrary
from tests.adapters.clocks import Clock
from tests.zotero_server.database import write, write_files
from tests.zotero_server.library import Library
from tests.zotero_server.server import KEY, WEB, ZOTERO_7, ZOTERO_10, Server, serving


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

    @property
    def backoff(self) -> Backoff:
        return Backoff(tries=4, rng=lambda: 0.5, sleep=self.clock.sleep)

    def reader(self, flavour: str, page: int) -> Reader:
        self.server: Server = self.opened.enter_context(serving(self.library, flavour, self.folder / "storage"))
        key = (lambda: KEY) if flavour == WEB else None
        transport = Transport(self.server.url, key=key, backoff=self.backoff, clock=self.clock)
        self.opened.callback(transport.close)
        return Reader(transport, self.library.name, page, self.backoff)


class Web(Way):
    def open(self) -> ZoteroLibrary:
        return WebLibrary(self.reader(WEB, PAGE))


class Zotero10(Way):
    flavour = ZOTERO_10

    def open(self) -> ZoteroLibrary:
        self.publish()
        return LocalLibrary(self.reader(self.flavour, LOCAL_PAGE), Files(self.folder, None))

    def publish(self) -> None:
        write_files(self.library, self.folder)


class Zotero7(Zotero10):
    flavour = ZOTERO_7


class Sqlite(Way):
    synced = True

    def open(self) -> ZoteroLibrary:
        self.publish()
        return SqliteLibrary(self.folder, Files(self.folder, None))

    def publish(self) -> None:
        write(self.library, self.folder, synced=self.synced)


class NeverSynced(Sqlite):
    synced = False


WAYS = {"web": Web, "zotero 10": Zotero10, "zotero 7": Zotero7, "sqlite": Sqlite, "sqlite, never synced": NeverSynced}

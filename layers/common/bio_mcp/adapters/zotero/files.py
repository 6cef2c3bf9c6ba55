"""Where the files of a library are on this machine."""

from pathlib import Path

from bio_mcp.adapters.sources.folders import Folders
from bio_mcp.errors import Forbidden, InvalidInput, NotFound
from bio_mcp.ports.zotero import ZoteroAttachment

RELATIVE = "attachments:"  # begins the path of a linked file below Zotero's base directory


class Files:
    """Attachments in Zotero's `storage` folder, and linked ones below `linked`, if there is such a folder.

    Nothing else is ever read, by whatever path or link: `NotFound` says so.
    """

    def __init__(self, data_dir: Path, linked: Path | None) -> None:
        self._storage = data_dir / "storage"
        self._linked = linked
        self._folders = Folders([str(each) for each in (self._storage, linked) if each])

    def content(self, attachment: ZoteroAttachment) -> bytes:
        """The attachment's file."""
        return self.read(self._path(attachment))

    def read(self, path: Path) -> bytes:
        """The file of that path."""
        try:
            return self._folders.read(self._folders.locate(str(path), local=False), local=False)
        except Forbidden:
            raise NotFound("its file is outside of Zotero's storage and of ZOTERO_LINKED_DIR") from None
        except InvalidInput:
            raise NotFound("its file is not on this machine, or cannot be read") from None

    def _path(self, attachment: ZoteroAttachment) -> Path:
        if attachment.link_mode.startswith("imported"):
            return self._storage / attachment.key / attachment.name
        if attachment.link_mode != "linked_file" or not attachment.path:
            raise NotFound("it is a link, not a file")
        if self._linked is None:
            raise NotFound("it is a linked file; ZOTERO_LINKED_DIR names the folder below which such are read")
        return self._linked / attachment.path.removeprefix(RELATIVE)

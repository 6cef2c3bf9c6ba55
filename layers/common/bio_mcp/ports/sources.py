"""Sources: where documents come from. Files of this machine, objects of S3, addresses of the web."""

from dataclasses import dataclass
from typing import Protocol

from bio_mcp.literature.documents import LARGEST_FILE

SUFFIXES = frozenset(".pdf .docx .html .htm .xhtml .md .markdown .xml .nxml .txt".split())
"""Which files of a folder are documents. One that is named itself is read whatever its suffix."""
MAX_FILES = 10_000  # of one source
MAX_BYTES = LARGEST_FILE  # of one file


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that may be read. `name` is what messages call it: without the folders above its source.

    `address` names it among all files, of any source; it may be a path of the machine, so no message has it.
    """

    name: str
    address: str


class Sources(Protocol):
    """Files that a client names, each allowed or refused by one rule. Threads may share it.

    `local`: the caller is the user of this machine, who may read its files. Others may read only those below the
    folders of `BIO_MCP_INGEST_ROOTS`. Buckets and hosts must be allowed whoever asks. Every method raises `Forbidden`,
    which names the setting that would allow it, `InvalidInput` for what is not there or is no source, `UpstreamFailed`
    when a service fails, and `DeadlineExceeded` when the time of the call ends.
    """

    def locate(self, source: str, *, local: bool) -> str:
        """Return the source in its one form: a path without links, or an address. Reads nothing of it."""

    def files(self, location: str, *, local: bool) -> list[SourceFile]:
        """Return the file at a location, or all documents below it, by address; hidden ones are left out.

        Raises `InvalidInput` for more than `MAX_FILES`.
        """

    def read(self, address: str, *, local: bool) -> bytes:
        """Return the content of a file. Raises `UnreadableDocument` for more than `MAX_BYTES`."""

"""The files in which NLM publishes all of PubMed."""

from pathlib import Path
from typing import Protocol


class PubmedFiles(Protocol):
    """NCBI's baseline and update files. Every method may raise `NcbiFailed`.

    An address is a folder and the name of a file: `baseline/pubmed26n0001.xml.gz`.
    """

    def addresses(self) -> list[str]:
        """Return the addresses of all files, in the order in which they hold.

        Raises `NcbiUnreadable` where NCBI's page is no list of them: there is always a baseline.
        """
        ...

    def md5(self, address: str) -> str:
        """Return the MD5, in hex, that NCBI publishes of a file."""
        ...

    def download(self, address: str, into: Path) -> None:
        """Add to `into` what it lacks of a file; it begins where an earlier download ended. Nothing is compared."""
        ...

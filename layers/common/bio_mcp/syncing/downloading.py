"""Fetch NLM's files whole: what has another MD5 than NCBI publishes never takes the name of the file."""

import hashlib
from pathlib import Path

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.ports.pubmed_files import PubmedFiles

PART = ".part"  # what a file that is not whole yet ends in
TRIES = 2  # what was damaged on its way is fetched once more, from its beginning


def fetch(address: str, published: PubmedFiles, into: Path) -> str:
    """Fetch a file to `into`, and return its MD5. An interrupted fetch is gone on with where it ended.

    Raises `NcbiUnreadable` where the file does not have the MD5 that NCBI publishes, also when fetched anew.
    """
    expected, part = published.md5(address), into.with_name(into.name + PART)
    for _ in range(TRIES):
        published.download(address, part)
        if md5_of(part) == expected:
            part.replace(into)
            return expected
        part.unlink()
    name = address.rpartition("/")[2]
    raise NcbiUnreadable(f"{name} does not have the MD5 that NCBI publishes of it; try again later.", retryable=False)


def md5_of(path: Path) -> str:
    """The MD5 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()

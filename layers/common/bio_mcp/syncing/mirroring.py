"""Fetch what NCBI publishes of PubMed into a folder, from which it is imported."""

from collections.abc import Callable
from pathlib import Path

from bio_mcp.errors import InvalidInput, NcbiUnreadable, StoreFailed
from bio_mcp.ports.pubmed_files import PubmedFiles
from bio_mcp.progress import Progress, silent
from bio_mcp.syncing.downloading import fetch
from bio_mcp.syncing.listed_files import ListedFile


def mirror(
    published: PubmedFiles, folder: Path, is_finished: Callable[[ListedFile], bool], progress: Progress = silent
) -> None:
    """Fetch the baseline and update files that `folder` lacks, each with its MD5 beside it, one after the other.

    The folder is made if its parent is there. A file that is there and not `is_finished` is compared with its MD5, and
    fetched again if it is not that file. An interrupted run is gone on with where it ended. Raises the failures of
    `published`, `NcbiUnreadable` for a file that comes damaged twice, and `StoreFailed` for one that cannot be written;
    what was fetched before stays.
    """
    addresses = published.addresses()
    for number, address in enumerate(addresses):
        path = folder / address
        progress(number, len(addresses), f"fetching {path.name}")
        try:
            folder.mkdir(exist_ok=True)
            if not path.exists() or not _is_whole(ListedFile(path), is_finished):
                _fetch(address, published, path)
        except OSError as error:
            raise StoreFailed(f"{path.name} could not be written ({error.strerror}): mend that and repeat.") from error


def _is_whole(file: ListedFile, is_finished: Callable[[ListedFile], bool]) -> bool:
    try:
        if not is_finished(file):
            file.check()
    except (InvalidInput, NcbiUnreadable):
        return False
    return True


def _fetch(address: str, published: PubmedFiles, path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    md5 = fetch(address, published, path)
    path.with_name(f"{path.name}.md5").write_text(f"MD5({path.name})= {md5}\n", encoding="ascii")

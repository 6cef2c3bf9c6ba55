"""Files of this machine.

Whoever is not its user reads only below the allowed folders. The path is resolved, compared, and then opened folder by
folder without following a link, so that none that is made in between leads out. Devices, pipes and what the kernel
shows as files are refused to everybody.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bio_mcp.errors import Forbidden, InvalidInput, UnreadableDocument
from bio_mcp.ports.sources import MAX_BYTES, MAX_FILES, SUFFIXES, SourceFile

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
            return self._content(opened)

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

    def _content(self, opened: int) -> bytes:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise InvalidInput("it is not a regular file")
        with os.fdopen(os.dup(opened), "rb") as file:
            content = file.read(self._max_bytes + 1)
        if len(content) > self._max_bytes:
            raise UnreadableDocument(f"it is larger than {self._max_bytes >> 20} MB")
        return content


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
    if "\0" in source or not source.strip() or not _can_be_encoded(source):
        raise InvalidInput("source: this is not a path")
    if not source.lower().startswith("file:"):
        return Path(source)
    try:
        parts = urlsplit(source)
    except ValueError:
        raise InvalidInput("source: this is not a file address") from None
    path = unquote(parts.path, errors="surrogateescape")
    if parts.netloc not in ("", "localhost") or not path.startswith("/") or "\0" in path:
        raise InvalidInput("source: a file address is file:/// and an absolute path of this machine")
    return Path(path)


def _can_be_encoded(path: str) -> bool:
    """Whether it has no unpaired surrogates but those that stand for bytes."""
    try:
        return bool(os.fsencode(path))
    except UnicodeEncodeError:
        return False


def _walk(folder: Path) -> Iterator[Path]:
    """Every document below the folder that is not hidden, nor in a hidden folder, in no order."""
    for above, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        documents = [each for each in names if not each.startswith(".") and Path(each).suffix.lower() in SUFFIXES]
        yield from (Path(above) / each for each in documents)


def _shown(name: str) -> str:
    """The name as text: what is not UTF-8 in it is replaced."""
    return os.fsencode(name).decode("utf-8", "replace")

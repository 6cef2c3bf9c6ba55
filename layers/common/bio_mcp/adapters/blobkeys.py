"""Keys of blobs, derived from their content, so that a key cannot lie, collide or escape its directory."""

import re
from hashlib import sha256

from bio_mcp.errors import InvalidInput, NotFound, StoreFailed

_WORD = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_FOLDER = re.compile(rf"{_WORD}(?:/{_WORD}){{0,7}}")
_SUFFIX = re.compile(r"(?:\.[a-z0-9]{1,10}){0,2}")
_KEY = re.compile(rf"{_FOLDER.pattern}/([0-9a-f]{{64}}){_SUFFIX.pattern}")
LONGEST = 512  # characters; S3 ends at 1,024 bytes


def key_of(folder: str, content: bytes, suffix: str = "") -> str:
    """Return `folder/<SHA-256 in hex><suffix>`. Raises `InvalidInput` for a folder or suffix with other characters."""
    key = f"{folder}/{sha256(content).hexdigest()}{suffix}"
    if not (_FOLDER.fullmatch(folder) and _SUFFIX.fullmatch(suffix) and len(key) <= LONGEST):
        raise InvalidInput("a blob's folder is words of a-z, 0-9 and - joined by /, its suffix like .pdf")
    return key


def key_of_hash(like: str, digest: str) -> str:
    """The key of other content, whose SHA-256 is `digest`, in the folder and with the suffix of the key `like`.

    Raises `NotFound` where `key_of` cannot have returned that.
    """
    if not is_key(like):
        raise missing()
    folder, _, name = like.rpartition("/")
    return f"{folder}/{digest}{name[64:]}"


def is_key(key: str) -> bool:
    """Whether `key_of` can have returned `key`."""
    return len(key) <= LONGEST and _KEY.fullmatch(key) is not None


def checked(key: str, content: bytes) -> bytes:
    """Return `content`. Raises `StoreFailed` if it does not match the hash in `key`."""
    digest = _KEY.fullmatch(key)
    if digest is None or sha256(content).hexdigest() != digest[1]:
        raise StoreFailed("A stored file is damaged; import or fetch it again.", retryable=False)
    return content


def missing() -> NotFound:
    """The failure for an unknown key. It does not quote the key, which may be anybody's text."""
    return NotFound("There is no stored file of this key")

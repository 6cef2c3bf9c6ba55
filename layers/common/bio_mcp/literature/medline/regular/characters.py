"""Characters of a batch: whatever is no `<` must be a character that may stand in a text."""

import re

import numpy as np

from bio_mcp.literature.medline.regular.fragments import Irregular

_ENTITIES = (b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;")
_TEXT_AFTER_TAG = re.compile(rb'<(?:/?[A-Za-z]+(?: [A-Za-z]+="[^"<>]*")*|\?[A-Za-z]+ *\?)>[^<>]*')
_NO_CHARACTERS = ("\ufffe".encode(), "\uffff".encode())
_TAB, _LINE_BREAK, _SPACE = 9, 10, 32


def checked(batch: bytes) -> tuple[bytes, int]:
    """The batch as it is read, and the number of its line breaks.

    It has no processing instructions, and spaces in a row only after a line break or a tab, so that a text without
    these needs no other look at its white space. Raises `Irregular` for a batch of UTF-8 that is not well-formed XML
    whatever its tags are, and for what needs more than to be copied: carriage returns, numbers of characters, comments,
    CDATA.
    """
    if not _is_text(batch):
        raise Irregular
    return _spaced(without_instructions(batch))


def without_instructions(batch: bytes) -> bytes:
    """The batch without its processing instructions, such as PubMed's `<?pmcsd ?>`.

    Raises `Irregular` for one that is more than a name, or that does not stand in text.
    """
    for at in reversed([at for at in positions(batch, b"?") if batch.startswith(b"<", at - 1)]):
        start, end = at - 1, batch.find(b"?>", at)
        name = batch[at + 1 : end].rstrip(b" ")
        if not name.isalpha() or name.lower().startswith(b"xml") or not _is_in_text(batch, start):
            raise Irregular
        batch = batch[:start] + batch[end + 2 :]
    return batch


def positions(batch: bytes, mark: bytes) -> list[int]:
    """Where the byte `mark` stands. One byte is searched for far faster than several."""
    found = []
    at = batch.find(mark)
    while at >= 0:
        found.append(at)
        at = batch.find(mark, at + 1)
    return found


def _spaced(batch: bytes) -> tuple[bytes, int]:
    """The batch with line breaks for spaces that follow a space in a line, and the number of the breaks that it had.

    They are the same in an attribute, and in a text that is tidied. Raises `Irregular` for other controls, and where
    there is a formula, which is not.
    """
    codes = np.frombuffer(batch, np.uint8)
    lines = int(np.count_nonzero(codes == _LINE_BREAK))
    others = np.count_nonzero(codes < _SPACE) - lines
    if others and others != np.count_nonzero(codes == _TAB):
        raise Irregular
    spaces = codes == _SPACE
    second = (codes > _SPACE)[:-2] & spaces[1:-1] & spaces[2:]
    if not second.any():
        return batch, lines
    if b"math" in batch:
        raise Irregular
    codes = codes.copy()
    codes[2:][second] = _LINE_BREAK
    return codes.tobytes(), lines


def _is_text(batch: bytes) -> bool:
    """Whether every `&` opens an entity of XML's own, no `]` ends CDATA, no `!` opens a comment or CDATA.

    And whether XML has the rare characters that begin with EF in UTF-8.
    """
    return (
        all(batch.startswith(_ENTITIES, at) for at in positions(batch, b"&"))
        and not any(batch.startswith(b"]]>", at) for at in positions(batch, b"]"))
        and not any(batch.startswith(b"<", at - 1) for at in positions(batch, b"!") if at)
        and not any(batch.startswith(_NO_CHARACTERS, at) for at in positions(batch, b"\xef"))
    )


def _is_in_text(batch: bytes, at: int) -> bool:
    return bool(_TEXT_AFTER_TAG.fullmatch(batch, batch.rfind(b"<", 0, at), at))

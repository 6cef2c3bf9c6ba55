"""Characters of a batch: whatever is no `<` must be a character that may stand in a text."""

import re

from bio_mcp.literature.medline.regular.fragments import Irregular

_NO_CONTROLS = bytes(range(32, 256))
_ENTITIES = (b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;")
_TEXT_AFTER_TAG = re.compile(rb'<(?:/?[A-Za-z]+(?: [A-Za-z]+="[^"<>]*")*|\?[A-Za-z]+ *\?)>[^<>]*')
_NO_CHARACTERS = ("\ufffe", "\uffff")


def check_characters(batch: bytes) -> int:
    """Return the number of line breaks.

    Raises `Irregular` for a batch that is not well-formed XML whatever its tags are, and for what needs more than to be
    copied: carriage returns, numbers of characters, comments, CDATA.
    """
    controls = batch.translate(None, _NO_CONTROLS)
    lines = controls.count(b"\n")
    if lines + controls.count(b"\t") < len(controls) or not (_is_utf8(batch) and _is_text(batch)):
        raise Irregular
    return lines


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


def _is_utf8(batch: bytes) -> bool:
    """Whether the bytes are characters that XML has."""
    try:
        text = batch.decode()
    except UnicodeDecodeError:
        return False
    return not any(each in text for each in _NO_CHARACTERS)


def _is_text(batch: bytes) -> bool:
    """Whether every `&` opens an entity of XML's own, no `]` ends CDATA, and no `!` opens a comment or CDATA."""
    return (
        all(batch.startswith(_ENTITIES, at) for at in positions(batch, b"&"))
        and not any(batch.startswith(b"]]>", at) for at in positions(batch, b"]"))
        and not any(batch.startswith(b"<", at - 1) for at in positions(batch, b"!") if at)
    )


def _is_in_text(batch: bytes, at: int) -> bool:
    return bool(_TEXT_AFTER_TAG.fullmatch(batch, batch.rfind(b"<", 0, at), at))

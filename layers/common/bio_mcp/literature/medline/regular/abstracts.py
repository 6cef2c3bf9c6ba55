"""Abstract: sections of text, and a copyright line at most."""

from bio_mcp.literature.medline.abstracts import label_and_category
from bio_mcp.literature.medline.regular.fragments import Irregular, Remembered, fragment
from bio_mcp.literature.medline.regular.texts import plain_text
from bio_mcp.literature.records import AbstractSection

_COPYRIGHT = "<CopyrightInformation>"


def abstract_and_copyright(inner: str) -> tuple[tuple[AbstractSection, ...], str | None]:
    """The same as `abstracts.sections` and `abstracts.copyright_line`."""
    first, *each = inner.split("<AbstractText")
    if "<" in first or not each:
        raise Irregular
    each[-1], mark, line = each[-1].partition(_COPYRIGHT)
    sections = [_section(piece) for piece in each]
    copyright_line = _text(line, "</CopyrightInformation>") if mark else None
    return tuple([section for section in sections if section.text or section.label]), copyright_line or None


def _section(piece: str) -> AbstractSection:
    attributes, _, rest = piece.partition(">")
    label, category = _LABELS[attributes] if attributes else (None, None)
    return AbstractSection(label, category, _text(rest, "</AbstractText>"))


def _label_and_category(attributes: str) -> tuple[str | None, str | None]:
    element = fragment(f"<AbstractText{attributes}/>".encode())
    if element.tag != "AbstractText":
        raise Irregular
    return label_and_category(element.attrib)


def _text(rest: str, end: str) -> str:
    text, found, after = rest.partition(end)
    if not found or "<" in after:
        raise Irregular
    return plain_text(text)


_LABELS: Remembered[tuple[str | None, str | None]] = Remembered(_label_and_category)

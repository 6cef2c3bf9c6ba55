"""Abstract, OtherAbstract and the copyright line that belongs to neither."""

from lxml import etree

from bio_mcp.literature.medline.markup import Attributes, plain
from bio_mcp.literature.records import AbstractSection, OtherAbstract


def sections(element: etree._Element) -> tuple[AbstractSection, ...]:
    """The AbstractText elements in order. A labelled section stays even when its text is empty."""
    parts = [_section(child) for child in element if child.tag == "AbstractText"]
    return tuple([section for section in parts if section.text or section.label])


def copyright_line(element: etree._Element) -> str | None:
    """The text of CopyrightInformation; None when the abstract has none."""
    for line in element.iterchildren("CopyrightInformation"):
        return plain(line) or None
    return None


def other_abstract(element: etree._Element) -> OtherAbstract:
    """An abstract in another language or for other readers; `eng` is the DTD's default language."""
    return OtherAbstract(element.get("Language") or "eng", element.get("Type") or "", sections(element))


def label_and_category(attributes: Attributes) -> tuple[str | None, str | None]:
    """An AbstractText's label as printed, and NLM's category of it."""
    label = attributes.get("Label")
    return label.strip() or None if label else None, attributes.get("NlmCategory")


def _section(element: etree._Element) -> AbstractSection:
    return AbstractSection(*label_and_category(element.attrib), plain(element))

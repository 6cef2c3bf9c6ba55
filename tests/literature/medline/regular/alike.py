"""A reader of bytes beside the reader of the same element of a tree."""

from lxml import etree

from bio_mcp.literature.medline.prolog import sealed_builder
from bio_mcp.literature.medline.regular import Irregular
from bio_mcp.literature.medline.regular.characters import checked


def alike(read, read_element, inner, tag="x"):
    """Whether `read` reads the content as `read_element` reads its element; False if it leaves it to a tree."""
    xml = f"<{tag}>{inner}</{tag}>".encode()
    try:
        got = read(checked(inner.encode())[0].decode())
    except Irregular:
        return False
    assert got == read_element(etree.fromstring(xml, sealed_builder()))
    return True

"""PDF files written by hand, object by object."""

from collections.abc import Sequence

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-%s >>"
RESOURCES = b"<< /Font << /R %s /B %s >> /XObject << /I 3 0 R >> >>" % (FONT % b"Roman", FONT % b"Bold")
PICTURE = b"/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 4"
PIXELS = b"<< %s >>\nstream\n\x00\x80\x80\x00\nendstream" % PICTURE


def written(objects: Sequence[bytes], trailer: bytes = b"") -> bytes:
    """A file of the objects, numbered from 1; the first is its catalog."""
    parts, places = [b"%PDF-1.7\n"], []
    for number, each in enumerate(objects, 1):
        places.append(sum(map(len, parts)))
        parts.append(b"%d 0 obj\n%s\nendobj\n" % (number, each))
    start = sum(map(len, parts))
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, rows)
    end = b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, start)
    return b"".join([*parts, head, end])


def show(text: str, x: float = 72, y: float = 700, size: float = 10, font: str = "R", turned: bool = False) -> bytes:
    """The operators that print a line at a place counted from below, `turned` to run upwards."""
    matrix = b"0 1 -1 0" if turned else b"1 0 0 1"
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("latin-1")
    return b"BT /%s %g Tf %s %g %g Tm (%s) Tj ET\n" % (font.encode(), size, matrix, x, y, escaped)


def paragraph(text: str, x: float = 72, y: float = 700, size: float = 10, **kind: object) -> bytes:
    """The lines of `text`, one below the other."""
    return b"".join(show(line, x, y - 1.2 * size * at, size, **kind) for at, line in enumerate(text.split("\n")))


def image(width: float, height: float) -> bytes:
    """The operators that draw the file's picture in the lower left corner."""
    return b"q %g 0 0 %g 0 0 cm /I Do Q\n" % (width, height)


def pdf(
    *pages: bytes, box: str = "0 0 612 792", more: str = "", catalog: bytes = CATALOG, extra: Sequence[bytes] = ()
) -> bytes:
    """A file whose pages have these contents; `more` is written into each page. The first page is object 4."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(pages)))
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))
    objects = [catalog, tree, PIXELS]
    for at, content in enumerate(pages):
        about = b"/MediaBox [%s] %s /Contents %d 0 R /Resources %s" % (
            box.encode(),
            more.encode(),
            5 + 2 * at,
            RESOURCES,
        )
        objects.append(b"<< /Type /Page /Parent 2 0 R %s >>" % about)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return written([*objects, *extra])

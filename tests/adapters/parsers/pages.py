"""PDF files and pages, made for tests."""

import zlib
from collections.abc import Sequence

import pypdfium2

from bio_mcp.adapters.parsers.pdf import PageImage

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-%s >>"
RESOURCES = b"<< /Font << /R %s /B %s %%s >> /XObject << /I 3 0 R >> >>" % (FONT % b"Roman", FONT % b"Bold")
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
    *pages: bytes,
    box: str = "0 0 612 792",
    more: str = "",
    catalog: bytes = CATALOG,
    extra: Sequence[bytes] = (),
    fonts: bytes = b"",
) -> bytes:
    """A file whose pages have these contents; `more` is written into each page. The first page is object 4.

    `fonts` are names beside R and B, of objects of `extra`, which follow the pages.
    """
    kids = b" ".join(b"%d 0 R" % (4 + 2 * at) for at in range(len(pages)))
    tree = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages))
    objects = [catalog, tree, PIXELS]
    for at, content in enumerate(pages):
        about = b"/MediaBox [%s] %s /Contents %d 0 R /Resources %s" % (
            box.encode(),
            more.encode(),
            5 + 2 * at,
            RESOURCES % fonts,
        )
        objects.append(b"<< /Type /Page /Parent 2 0 R %s >>" % about)
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return written([*objects, *extra])


def stream(content, more=b""):
    packed = zlib.compress(content)
    return b"<</Length %d /Filter /FlateDecode %s>>\nstream\n%s\nendstream" % (len(packed), more, packed)


def typeset(*pages):
    """Pages of A4, each a list of lines in Helvetica of 11 points."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(len(pages)))
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Count %d /Kids [%s]>>" % (len(pages), kids),
        b"<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>",
    ]
    for n, lines in enumerate(pages):
        shown = [b"(%s) Tj T*" % _escaped(line) for line in lines]
        content = b"BT /F1 11 Tf 15 TL 60 780 Td %s ET" % b" ".join(shown)
        objects.append(
            b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources <</Font <</F1 3 0 R>>>>>>" % (5 + 2 * n)
        )
        objects.append(stream(content))
    return written(objects)


def _escaped(line):
    return line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def scan(*images):
    """A PDF whose pages are images alone: `PageImage`s, or anything with their fields."""
    kids = b" ".join(b"%d 0 R" % (3 + 3 * n) for n in range(len(images)))
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        b"<</Type /Pages /Count %d /Kids [%s]>>" % (len(images), kids),
    ]
    for n, image in enumerate(images):
        width, height = image.width * 72 / image.dpi, image.height * 72 / image.dpi
        objects += [
            b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 %.2f %.2f] /Contents %d 0 R "
            b"/Resources <</XObject <</I %d 0 R>>>>>>" % (width, height, 4 + 3 * n, 5 + 3 * n),
            stream(b"q %.2f 0 0 %.2f 0 0 cm /I Do Q" % (width, height)),
            stream(
                image.pixels,
                b"/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8"
                % (image.width, image.height),
            ),
        ]
    return written(objects)


def drawn(content, number=1, dpi=200):
    """The image of a page of a PDF."""
    document = pypdfium2.PdfDocument(content)
    bitmap = document[number - 1].render(scale=dpi / 72, grayscale=True)
    pixels = b"".join(
        bytes(bitmap.buffer)[row * bitmap.stride : row * bitmap.stride + bitmap.width] for row in range(bitmap.height)
    )
    made = PageImage(number, bitmap.width, bitmap.height, dpi, pixels)
    document.close()
    return made

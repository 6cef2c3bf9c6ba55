"""Small PDFs made for tests: typeset pages, and scans of pages, which hold an image and no text."""

import zlib

import pypdfium2

from bio_mcp.adapters.parsers.pdf import PageImage
from tests.adapters.parsers.pdf.files import written


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

"""Pages as images, for whoever recognises the text in them."""

import math
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bio_mcp.literature.layout.lines import PositionedLine

DPI = 300
_MOST_PIXELS = 20_000_000  # of a page's image: 300 dots an inch of A3; a larger page is drawn coarser
POINTS_PER_INCH = 72
_OBJECTS = 10_000  # of a page that are looked at


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page as it is seen, upright where the file says how: grey, one byte a pixel, rows from the top without padding.

    `dpi` is the resolution: a point of the page is `dpi / 72` pixels.
    """

    page: int
    width: int
    height: int
    dpi: float
    pixels: bytes


@dataclass(frozen=True, slots=True)
class RecognisedPage:
    """What was recognised on a page: lines placed in points (pixels times 72 / dpi), and how surely (0 to 1)."""

    lines: tuple[PositionedLine, ...]
    confidence: float


def image_of(page: Any, number: int) -> PageImage:
    """Draw a `pypdfium2.PdfPage`."""
    width, height = page.get_size()
    most = math.sqrt(_MOST_PIXELS / max(1.0, width * height))
    scale = min(DPI / POINTS_PER_INCH, most)
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False)
    try:
        stored = bytes(bitmap.buffer)
        rows = (stored[at * bitmap.stride : at * bitmap.stride + bitmap.width] for at in range(bitmap.height))
        pixels = stored if bitmap.stride == bitmap.width else b"".join(rows)
        return PageImage(number, bitmap.width, bitmap.height, scale * POINTS_PER_INCH, pixels)
    finally:
        bitmap.close()


def image_share(page: Any) -> float:
    """How much of the page the largest image covers, from 0 to 1; drawings that are no image count a little."""
    from pypdfium2 import raw

    left, bottom, right, top = page.get_bbox()
    whole = max(1.0, (right - left) * (top - bottom))
    share = 0.0
    for each in islice(page.get_objects(max_depth=4), _OBJECTS):
        if each.type == raw.FPDF_PAGEOBJ_IMAGE:
            x0, y0, x1, y1 = each.get_bounds()
            share = max(share, (x1 - x0) * (y1 - y0) / whole)
        elif each.type in (raw.FPDF_PAGEOBJ_PATH, raw.FPDF_PAGEOBJ_SHADING):
            share = max(share, 0.01)
    return min(share, 1.0)

"""PDFium's functions for single characters, as bare pointers."""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

_ITALIC = 64  # flag of a font descriptor


class Functions(NamedTuple):
    """What PDFium tells of the character at an index; the first argument is a text page's handle."""

    count: Callable[[int], int]
    unicode: Callable[[int, int], int]
    text_object: Callable[[int, int], int | None]
    is_generated: Callable[[int, int], int]
    box: Callable[[int, int], tuple[float, float, float, float]]
    origin: Callable[[int, int], tuple[float, float]]
    matrix: Callable[[int, int], tuple[float, float, float, float]]
    size: Callable[[int, int], float]
    font: Callable[[int, int], tuple[str, int, bool]]


@cache
def functions() -> Functions:
    """Return the functions; loads PDFium."""
    import pypdfium2.raw as pdfium

    page, index, address = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p
    return Functions(
        count=_bare(pdfium.FPDFText_CountChars, ctypes.c_int, page),
        unicode=_bare(pdfium.FPDFText_GetUnicode, ctypes.c_uint, page, index),
        text_object=_bare(pdfium.FPDFText_GetTextObject, ctypes.c_void_p, page, index),
        is_generated=_bare(pdfium.FPDFText_IsGenerated, ctypes.c_int, page, index),
        box=_box(_bare(pdfium.FPDFText_GetCharBox, ctypes.c_int, page, index, *[address] * 4)),
        origin=_origin(_bare(pdfium.FPDFText_GetCharOrigin, ctypes.c_int, page, index, *[address] * 2)),
        matrix=_matrix(_bare(pdfium.FPDFText_GetMatrix, ctypes.c_int, page, index, address)),
        size=_bare(pdfium.FPDFText_GetFontSize, ctypes.c_double, page, index),
        font=_font(
            _bare(pdfium.FPDFText_GetFontInfo, ctypes.c_ulong, page, index, address, ctypes.c_ulong, address),
            _bare(pdfium.FPDFText_GetFontWeight, ctypes.c_int, page, index),
        ),
    )


def _bare(function: Any, result: Any, *arguments: Any) -> Callable[..., Any]:
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    pointer: Callable[..., Any] = ctypes.CFUNCTYPE(result, *arguments)(address)
    return pointer


def _box(function: Callable[..., int]) -> Callable[[int, int], tuple[float, float, float, float]]:
    """PDFium tells left, right, bottom and top; here left, bottom, right and top."""
    found = (ctypes.c_double * 4)()
    addresses = [ctypes.addressof(found) + 8 * at for at in range(4)]

    def box(page: int, index: int) -> tuple[float, float, float, float]:
        function(page, index, *addresses)
        left, right, bottom, top = found
        return left, bottom, right, top

    return box


def _origin(function: Callable[..., int]) -> Callable[[int, int], tuple[float, float]]:
    found = (ctypes.c_double * 2)()
    addresses = [ctypes.addressof(found), ctypes.addressof(found) + 8]

    def origin(page: int, index: int) -> tuple[float, float]:
        function(page, index, *addresses)
        x, y = found
        return x, y

    return origin


def _matrix(function: Callable[..., int]) -> Callable[[int, int], tuple[float, float, float, float]]:
    found = (ctypes.c_float * 6)()

    def matrix(page: int, index: int) -> tuple[float, float, float, float]:
        known = function(page, index, ctypes.addressof(found))
        a, b, c, d, *_ = found
        return (a, b, c, d) if known else (1.0, 0.0, 0.0, 1.0)

    return matrix


def _font(info: Callable[..., int], weight: Callable[..., int]) -> Callable[[int, int], tuple[str, int, bool]]:
    name, flags = ctypes.create_string_buffer(256), ctypes.c_int()

    def font(page: int, index: int) -> tuple[str, int, bool]:
        """Name, weight where known, and whether it is italic."""
        name.value = b""
        info(page, index, ctypes.addressof(name), len(name), ctypes.addressof(flags))
        return name.value.decode("utf-8", "replace"), weight(page, index), bool(flags.value & _ITALIC)

    return font

"""MathML to one line: `x₁²`, `(a+b)/2`, `√(x)`, `x̄`. Layout white space and invisible operators are dropped."""

from collections.abc import Callable

from lxml import etree

from bio_mcp.errors import NcbiUnreadable
from bio_mcp.literature.medline.scripts import subscript, superscript

_INVISIBLE = dict.fromkeys((0x2061, 0x2062, 0x2063, 0x2064, 0x200B))
_ACCENTS = {
    "¯": "\u0304", "‾": "\u0304", "―": "\u0304", "_": "\u0304", "ˉ": "\u0304", "̄": "\u0304", "̅": "\u0304",
    "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "∼": "\u0303", "→": "\u20d7", "⃗": "\u20d7",
    "˙": "\u0307", ".": "\u0307", "·": "\u0307", "¨": "\u0308",
}  # fmt: skip


def linear(element: etree._Element) -> str:
    """The formula on one line, in reading order. Raises `NcbiUnreadable` for an undefined entity."""
    tag = element.tag
    if not isinstance(tag, str):
        raise NcbiUnreadable("The XML refers to an entity that it does not define; fetch the record again.")
    layout = _LAYOUTS.get(tag.rpartition("}")[2].rpartition(":")[2], _row)
    return layout(element)


def _row(element: etree._Element) -> str:
    if len(element) == 0:
        return _token(element)
    return "".join(map(linear, element))


def _token(element: etree._Element) -> str:
    return " ".join("".join(map(str, element.itertext())).translate(_INVISIBLE).split(" ")).strip("\t\r\n")


def _text(element: etree._Element) -> str:
    return _token(element).strip("\n") or " "


def _parts(element: etree._Element, count: int) -> list[str]:
    children = [linear(child) for child in element]
    return children[:count] + [""] * (count - len(children))


def _sub(element: etree._Element) -> str:
    base, below = _parts(element, 2)
    return base + subscript(below)


def _sup(element: etree._Element) -> str:
    base, above = _parts(element, 2)
    return base + superscript(above)


def _subsup(element: etree._Element) -> str:
    base, below, above = _parts(element, 3)
    return base + subscript(below) + superscript(above)


def _over(element: etree._Element) -> str:
    base, above = _parts(element, 2)
    mark = above.strip()
    return base + _ACCENTS[mark] if len(base) == 1 and mark in _ACCENTS else base + superscript(above)


def _fraction(element: etree._Element) -> str:
    above, below = map(_grouped, _parts(element, 2))
    return f"{above}/{below}"


def _root(element: etree._Element) -> str:
    base, degree = _parts(element, 2)
    return f"{superscript(degree)}√({base})"


def _square_root(element: etree._Element) -> str:
    return f"√({_row(element)})"


def _fenced(element: etree._Element) -> str:
    separator = (element.get("separators", ",").strip() or " ")[0]
    return element.get("open", "(") + separator.join(map(linear, element)) + element.get("close", ")")


def _rows(element: etree._Element) -> str:
    return "; ".join(map(linear, element))


def _cells(element: etree._Element) -> str:
    return ", ".join(map(linear, element))


def _first(element: etree._Element) -> str:
    return linear(element[0]) if len(element) else ""


def _grouped(text: str) -> str:
    text = text.strip()
    return text if text.replace(".", "").isalnum() else f"({text})"


def _nothing(_element: etree._Element) -> str:
    return ""


def _space(_element: etree._Element) -> str:
    return " "


_LAYOUTS: dict[str, Callable[[etree._Element], str]] = {
    "msub": _sub,
    "munder": _sub,
    "msup": _sup,
    "mover": _over,
    "msubsup": _subsup,
    "munderover": _subsup,
    "mfrac": _fraction,
    "msqrt": _square_root,
    "mroot": _root,
    "mfenced": _fenced,
    "mtable": _rows,
    "mtr": _cells,
    "mspace": _space,
    "mtext": _text,
    "semantics": _first,
    "annotation": _nothing,
    "annotation-xml": _nothing,
    "mphantom": _nothing,
}

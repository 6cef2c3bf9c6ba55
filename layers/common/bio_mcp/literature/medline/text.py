"""Mixed content to one line of plain text with the same meaning.

| markup | becomes |
|---|---|
| i, b, u and any other tag | its text |
| sup, sub, every character of which has a small form | that form: m², H₂O, Ca²⁺, ¹⁸F-FDG, Cₘₐₓ |
| the same with a point, comma or slash inside | that stays: PM₂.₅, refs ¹,², ADAM17⁻/⁻ |
| sup, sub otherwise | `^(...)` and `_(...)`: p53^(R175H), k_(cat) |
| MathML | linear form: `x₁²`, `(a+b)/2`, `√(x)`, `x̄` |

A bare digit would change the meaning (m2, 10-3), and a compatibility fold (NFKC) turns the small forms back into
what people type (CO2, PM2.5), so a search for either finds the text. Runs of XML white space become one space;
typographic spaces (thin, no-break) stay, because a number and its unit are printed with them.

Layout white space and invisible operators of MathML are dropped. The tables of small forms are written out, not read
from `unicodedata`: a newer Python would otherwise change the text, and with it every content hash. Characters that
are printed raised anyway (®, °, ′, *) stay as they are.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from lxml import etree

from bio_mcp.errors import NcbiUnreadable

_SPACE = re.compile(r"[ \t\r\n]+")


def plain(element: etree._Element) -> str:
    """The element's text as a reader would print it, `""` when it has none."""
    text = _inner(element) if len(element) else element.text
    if not text:
        return ""
    return tidy(text)


def leaf(element: etree._Element) -> str | None:
    """The text of an element that holds no markup; None when it is empty."""
    text = element.text
    if not text or text.isalnum():
        return text or None
    return tidy(text) or None


def tidy(text: str) -> str:
    """`text` with each run of XML white space as one space, none at the ends."""
    if "\n" in text or "  " in text or "\t" in text or "\r" in text:
        text = _SPACE.sub(" ", text)
    return text.strip()


def _inner(element: etree._Element) -> str:
    parts = [element.text or ""]
    for child in element:
        parts.append(_rendered(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _rendered(element: etree._Element) -> str:
    """The text of a child element, by the table above. Raises `NcbiUnreadable` for an undefined entity."""
    tag = element.tag
    if not isinstance(tag, str):
        raise NcbiUnreadable("The XML refers to an entity that it does not define; fetch the record again.")
    if tag == "sup":
        return superscript(_inner(element))
    if tag == "sub":
        return subscript(_inner(element))
    if _local_name(tag) == "math":
        return _linear(element)
    return _inner(element) if len(element) else element.text or ""


@lru_cache(maxsize=256)
def _local_name(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2]


_SUPERSCRIPTS = {
    **dict(zip("0123456789+=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁼⁽⁾", strict=True)),
    **dict.fromkeys("-−–‐‑", "⁻"),
    **dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True)),
    **dict(zip("ABDEGHIJKLMNOPRTUVW", "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ", strict=True)),
    **dict(zip("βγδφχ", "ᵝᵞᵟᵠᵡ", strict=True)),
    **{raised: raised for raised in "®™°º•′″‴*∗†‡§¶#@"},
}
_SUBSCRIPTS = {
    **dict(zip("0123456789+=()", "₀₁₂₃₄₅₆₇₈₉₊₌₍₎", strict=True)),
    **dict.fromkeys("-−–‐‑", "₋"),
    **dict(zip("aehijklmnoprstuvx", "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True)),
    **dict(zip("βγρφχ", "ᵦᵧᵨᵩᵪ", strict=True)),
}
_SUPERSCRIPTS |= {small: small for small in _SUPERSCRIPTS.values()}
_SUBSCRIPTS |= {small: small for small in _SUBSCRIPTS.values()}
_INSIDE = frozenset(".,/")


@lru_cache(maxsize=4096)
def superscript(text: str) -> str:
    """`2+` -> `²⁺`; `R175H` -> `^(R175H)`. Spaces at the ends stay outside the brackets."""
    return _script(text, _SUPERSCRIPTS, "^")


@lru_cache(maxsize=4096)
def subscript(text: str) -> str:
    """`2` -> `₂`; `cat` -> `_(cat)`. Spaces at the ends stay outside the brackets."""
    return _script(text, _SUBSCRIPTS, "_")


def _script(text: str, small: Mapping[str, str], mark: str) -> str:
    """Small forms if every character has one, else `mark` and brackets; points, commas and slashes may stand inside."""
    inner = text.strip()
    if not inner:
        return text
    before, _, after = text.partition(inner)
    if inner[0] in small and inner[-1] in small and all(c in small or c in _INSIDE for c in inner):
        return before + "".join(small.get(c, c) for c in inner) + after
    return f"{before}{mark}({inner}){after}"


_INVISIBLE = dict.fromkeys((0x2061, 0x2062, 0x2063, 0x2064, 0x200B))
_ACCENTS = {
    "¯": "\u0304", "‾": "\u0304", "―": "\u0304", "_": "\u0304", "ˉ": "\u0304", "̄": "\u0304", "̅": "\u0304",
    "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "∼": "\u0303", "→": "\u20d7", "⃗": "\u20d7",
    "˙": "\u0307", ".": "\u0307", "·": "\u0307", "¨": "\u0308",
}  # fmt: skip


def _linear(element: etree._Element) -> str:
    """A formula on one line, in reading order. Raises `NcbiUnreadable` for an undefined entity."""
    tag = element.tag
    if not isinstance(tag, str):
        raise NcbiUnreadable("The XML refers to an entity that it does not define; fetch the record again.")
    name = _local_name(tag)
    if name in _OF_PARTS:
        count, written = _OF_PARTS[name]
        parts = [_linear(child) for child in element][:count]
        return written(*parts, *[""] * (count - len(parts)))
    return _LAYOUTS.get(name, _row)(element)


def _row(element: etree._Element) -> str:
    return "".join(map(_linear, element)) if len(element) else _token(element)


def _token(element: etree._Element) -> str:
    return "".join(map(str, element.itertext())).translate(_INVISIBLE).strip("\t\r\n")


def _over(base: str, above: str) -> str:
    mark = above.strip()
    return base + _ACCENTS[mark] if len(base) == 1 and mark in _ACCENTS else base + superscript(above)


def _fraction(*parts: str) -> str:
    bare = [part.strip() for part in parts]
    return "/".join([part if part.replace(".", "").isalnum() else f"({part})" for part in bare])


def _fenced(element: etree._Element) -> str:
    separator = (element.get("separators", ",").strip() or " ")[0]
    return element.get("open", "(") + separator.join(map(_linear, element)) + element.get("close", ")")


_OF_PARTS: dict[str, tuple[int, Callable[..., str]]] = {
    "msub": (2, lambda base, below: base + subscript(below)),
    "munder": (2, lambda base, below: base + subscript(below)),
    "msup": (2, lambda base, above: base + superscript(above)),
    "mover": (2, _over),
    "msubsup": (3, lambda base, below, above: base + subscript(below) + superscript(above)),
    "munderover": (3, lambda base, below, above: base + subscript(below) + superscript(above)),
    "mfrac": (2, _fraction),
    "mroot": (2, lambda base, degree: f"{superscript(degree)}√({base})"),
    "semantics": (1, str),
    **dict.fromkeys(("annotation", "annotation-xml", "mphantom"), (0, str)),
}
_LAYOUTS: dict[str, Callable[[etree._Element], str]] = {
    "msqrt": lambda element: f"√({_row(element)})",
    "mfenced": _fenced,
    "mtable": lambda element: "; ".join(map(_linear, element)),
    "mtr": lambda element: ", ".join(map(_linear, element)),
    "mspace": lambda _: " ",
    "mtext": lambda element: _token(element).strip("\n") or " ",
}

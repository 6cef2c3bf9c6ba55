"""Superscripts and subscripts in plain text: Unicode's small forms where they exist, else `^(...)` and `_(...)`.

The tables are written out, not read from `unicodedata`: a newer Python would otherwise change the text, and
with it every content hash. Characters that are printed raised anyway (®, °, ′, *) stay as they are.
"""

from collections.abc import Mapping
from functools import lru_cache

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

"""LaTeX of a bibliography as plain text."""

import re
import unicodedata

_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "=": "\u0304", ".": "\u0307",
            "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a",
            "d": "\u0323"}  # fmt: skip
_LETTERS = {"ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å",
            "AA": "Å", "i": "i", "j": "j", "dh": "ð", "th": "þ", "textendash": "–", "textemdash": "—", "&": "&",
            "textquoteright": "’", "textregistered": "®", "textdegree": "°", "times": "×", "pm": "±", "ldots": "…",
            "textasciitilde": "~", "geq": "≥", "leq": "≤", "rightarrow": "→", "textbackslash": "\\"}  # fmt: skip
_ACCENT = re.compile(
    r"\\(?:([`'^\"~=.])\s*|([uvHckrd])(?:\s+|(?=\{)))(?:\{\s*(\\[ij]|[^\W\d_])\s*\}|(\\[ij](?![a-zA-Z])|[^\W\d_]))"
)
_COMMAND = re.compile(r"\\([a-zA-Z]+)\*?\s*(?:\{\})?|\\([&%$#_{}])")
_TYPED = (("---", "—"), ("--", "–"), ("``", "“"), ("''", "”"), ("~", " "), ("$", ""))


def text_of(latex: str) -> str:
    """Accents and letters as characters, Greek letters too; commands, braces and dollars go, their contents stay."""
    if "\\" not in latex:
        return _plain(latex)
    return _plain(_COMMAND.sub(_character, _ACCENT.sub(_accented, latex)))


def _plain(text: str) -> str:
    for typed, meant in _TYPED:
        text = text.replace(typed, meant)
    return unicodedata.normalize(
        "NFC", " ".join(re.sub(r"[{}]", "", text).replace("\x00", "{").replace("\x01", "}").split())
    )


def _accented(found: re.Match[str]) -> str:
    letter = (found[3] or found[4]).removeprefix("\\")
    return unicodedata.normalize("NFC", letter + _ACCENTS[found[1] or found[2]])


def _character(found: re.Match[str]) -> str:
    if found[2]:
        return {"{": "\x00", "}": "\x01", "$": "\uff04"}.get(found[2], found[2])
    name = found[1]
    return _LETTERS.get(name) or _greek(name)


def _greek(name: str) -> str:
    case, letter = ("CAPITAL" if name[0].isupper() else "SMALL"), name.removeprefix("var").upper()
    try:
        return unicodedata.lookup(f"GREEK {case} LETTER {letter.replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        return ""

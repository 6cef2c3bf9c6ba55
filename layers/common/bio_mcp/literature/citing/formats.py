"""BibTeX, RIS and CSL-JSON, which programs read."""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from bio_mcp.literature.citing.imprint import csl_date, full_pages, printed_year, spans
from bio_mcp.literature.citing.works import Name, Work, headline, inverted_name, notes
from bio_mcp.literature.records import MONTHS, PartialDate

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "{": r"\textbraceleft{}", "}": r"\textbraceright{}",  # BibTeX counts braces that are escaped, too
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "µ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho",
    "σ": "sigma", "ς": "varsigma", "τ": "tau", "υ": "upsilon", "φ": "varphi", "ϕ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma",
    "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega",
}  # fmt: skip
_SIGNS = {
    "≥": "geq", "≤": "leq", "±": "pm", "×": "times", "→": "rightarrow", "←": "leftarrow", "↔": "leftrightarrow",
    "≈": "approx", "∼": "sim", "∞": "infty", "≠": "neq", "−": "-", "·": "cdot", "′": "prime", "″": "prime\\prime",
    "⩾": "geq", "⩽": "leq", "≡": "equiv", "∆": "Delta", "√": "surd", "∗": "ast", "↑": "uparrow", "↓": "downarrow",
}  # fmt: skip
_TYPED = {
    "–": "--", "—": "---", "‐": "-", "‑": "-", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}",
    "°": r"\textdegree{}", "®": r"\textregistered{}", "™": r"\texttrademark{}", "©": r"\textcopyright{}",
    "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,", "\u2002": " ", "\u2003": " ", "\u200b": "", "\ufeff": "",
}  # fmt: skip
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ",
                   "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW", strict=True))  # fmt: skip
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-=()aehijklmnoprstuvx", strict=True))
_CHARACTERS = {
    **_SPECIAL,
    **_TYPED,
    **{sign: f"$\\{name}$" for sign, name in {**_GREEK, **_SIGNS}.items() if sign != "−"},
    "−": "$-$",
}
_SCRIPT = re.compile(
    rf"(?P<raised>[{''.join(_RAISED)}]+)|(?P<lowered>[{''.join(_LOWERED)}]+)"
    rf"|(?P<mark>[\^_])\((?P<inside>(?:[^()]|\([^()]*\))*)\)|(?P<character>[{re.escape(''.join(_CHARACTERS))}])"
)


def latex(text: str) -> str:
    """`Ca²⁺ & β_(1)` -> `Ca\\textsuperscript{2+} \\& $\\beta$\\textsubscript{1}`; letters with accents stay."""
    return _SCRIPT.sub(_as_latex, text)


def _as_latex(found: re.Match[str]) -> str:
    """A character, one run of small figures, or one `^(...)` or `_(...)` of `scripts`."""
    if found["character"]:
        return _CHARACTERS[found["character"]]
    raised = found["raised"] or found["mark"] == "^"
    if found["mark"]:
        inside = "".join(_CHARACTERS.get(each, each) for each in found["inside"])
    else:
        inside = "".join((_RAISED if raised else _LOWERED)[each] for each in found[0])
    return f"\\text{'superscript' if raised else 'subscript'}{{{inside}}}"


_BIBTEX_TYPES = {"article-journal": "article", "article": "article", "chapter": "incollection", "book": "book"}
_OPEN = re.compile(r"(?:^|\s)and(?:\s|$)|,", re.IGNORECASE)  # where BibTeX would part a name
_LETTERS = str.maketrans({"ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ß": "ss", "ł": "l", "Ł": "L", "đ": "d",
                          "Đ": "D", "ı": "i", "þ": "th", "Þ": "Th", "ð": "d", "œ": "oe", "Œ": "Oe"})  # fmt: skip


_NO_KEY = re.compile("[^A-Za-z0-9_:.+/-]")


def bibtex(work: Work, more: Mapping[str, str] = MappingProxyType({}), citekey: str | None = None) -> str:
    """Render `@article{Horby2021_33933206, ...}`; see `bibtex_key` for the key of a work that has no `citekey`.

    `more` are names and values of fields that a citation does not have.
    """
    issued, article = work.issued, work.article
    authors = list(map(_bibtex_person, work.authors))
    notice = " ".join((["Preprint."] if work.preprint else []) + notes(work))
    fields = {
        "author": " and ".join(authors if article.authors_complete else [*authors, "others"]),
        "editor": " and ".join(map(_bibtex_person, work.editors)),
        "title": _brace_capitals(work.title),
        "journal": latex(work.journal),
        "shortjournal": latex(work.abbreviation) if work.journal else "",
        "booktitle": "" if work.journal else _brace_capitals(work.container),
        "volume": latex(work.volume),
        "number": latex(work.issue),
        "issn": work.issn,
        "publisher": latex(work.publisher),
        "address": latex(work.place),
        "edition": latex(work.edition),
        "isbn": " ".join(work.isbn),
        "year": printed_year(issued).replace("-", "--"),
        "month": MONTHS[issued.month - 1].lower() if issued and issued.month else "",
        "pages": latex(work.number or full_pages(work.page, "--")),
        # LaTeX reads a DOI verbatim but for a percent sign, and BibTeX counts braces that are escaped, too.
        "doi": (article.doi or "").replace("%", "\\%").replace("{", "\\%7B").replace("}", "\\%7D"),
        "url": work.url,
        "language": work.printed_languages,
        "note": latex(notice),
        "pmid": article.pmid,
        "pmcid": article.pmcid or "",
        **{name: latex(text) for name, text in more.items()},
    }
    lines = [f"  {name} = {text if name == 'month' else f'{{{text}}}'},\n" for name, text in fields.items() if text]
    key = _NO_KEY.sub("", citekey or "") or bibtex_key(work)
    return f"@{_BIBTEX_TYPES[work.kind]}{{{key},\n{''.join(lines)}}}\n"


def bibtex_key(work: Work) -> str:
    """The citation key in ASCII: first author's family name, year, `_`, PMID.

    The PMID, or a hash where there is none, makes it unique. It stays the same when a record is revised.
    """
    first = work.authors[0] if work.authors else Name(literal="Anonymous")
    family = first.family or (first.literal.split() or ["Anonymous"])[0]
    ascii_only = unicodedata.normalize("NFKD", family.translate(_LETTERS)).encode("ascii", "ignore").decode()
    year = str(work.issued.year) if work.issued and work.issued.year else ""
    return f"{re.sub(r'[^A-Za-z0-9]', '', ascii_only)}{year}_{work.identifier.removeprefix('pmid:')}"


def _bibtex_person(name: Name) -> str:
    """`von Last, Jr., First`; a group, or a part with "and" or a comma, in braces, so BibTeX reads one name."""
    if name.literal:
        return f"{{{latex(name.literal)}}}"
    parts = [latex(each) for each in (name.family, name.suffix, name.given) if each]
    return ", ".join(f"{{{each}}}" if _OPEN.search(each) else each for each in parts)


def _brace_capitals(title: str) -> str:
    """The title in LaTeX, with braces around words whose capitals a bibliography style must not lower.

    A capital at the start of a word that belongs to the title's case does not count, only capitals further on.
    """
    words, loose = [], headline(title)
    for i, word in enumerate(title.split()):
        letters = word.lstrip("[(\"'“‘")
        counted = [part[1:] for part in letters.split("-")] if loose or i == 0 else [letters]
        stays = any(part != part.lower() for part in counted)
        words.append(f"{{{latex(word)}}}" if stays else latex(word))
    return " ".join(words)


_RIS_TYPES = {"article-journal": "JOUR", "article": "JOUR", "chapter": "CHAP", "book": "BOOK"}


def ris(work: Work, more: Iterable[tuple[str, str]] = ()) -> str:
    """Render the record, ended by a line break. Every value is one line, line breaks in it become spaces.

    `more` are tags with values that a citation does not have.
    """
    article, pages = work.article, spans(work.page)
    lines: list[tuple[str, str | None]] = [
        ("TY", _RIS_TYPES[work.kind]),
        *(("AU", inverted_name(name)) for name in work.authors),
        *(("ED", inverted_name(name)) for name in work.editors),
        ("TI", work.title),
        ("T2", work.container),
        ("JF", work.journal),
        ("J2", work.abbreviation if work.journal else ""),
        ("VL", work.volume),
        ("IS", work.issue),
        ("PB", work.publisher),
        ("CY", work.place),
        ("ET", work.edition),
        *(("SN", each) for each in (work.issn, *work.isbn)),
        *_ris_date(work.issued),
        ("SP", work.number or "".join(each.first for each in pages[:1])),
        ("EP", "".join(each.last or (each.first if len(pages) > 1 else "") for each in pages[-1:])),
        ("DO", article.doi),
        ("AN", article.pmid),
        ("C2", article.pmcid),
        ("DB", "PubMed" if article.pmid else ""),
        ("UR", work.url),
        ("LA", work.language),
        ("M3", "Preprint" if work.preprint else ""),
        ("N1", f"Original title: {work.original_title}" if work.original_title else ""),
        *(("N1", note) for note in notes(work)),
        *more,
    ]
    return "".join(f"{tag}  - {' '.join(value.split())}\n" for tag, value in lines if value) + "ER  - \n"


def _ris_date(issued: PartialDate | None) -> list[tuple[str, str]]:
    """The year, and the date as year, month, day and other: `2021/06/07/`; without a year a note."""
    if not issued or not issued.year:
        return [("N1", f"Published {issued.text}")] if issued else []
    numbers = [f"{n:02}" if n else "" for n in (issued.month, issued.day)]
    return [("PY", f"{issued.year:04}"), ("DA", "/".join([f"{issued.year:04}", *numbers, ""]))]


def csl_item(work: Work) -> dict[str, Any]:
    """Map the work to CSL variables, without those that are empty. Titles are plain text; page ranges have both numbers
    in full."""
    article = work.article
    variables = {
        "id": work.identifier,
        "type": work.kind,
        "title": work.title,
        "original-title": work.original_title,
        "author": [_csl_person(name) for name in work.authors],
        "issued": csl_date(work.issued) if work.issued else None,
        "container-title": work.container,
        "container-title-short": work.abbreviation if work.journal else None,
        "editor": [_csl_person(name) for name in work.editors],
        "publisher": work.container if work.preprint else work.publisher,
        "publisher-place": work.place,
        "edition": work.edition,
        "volume": work.volume,
        "issue": work.issue,
        "ISSN": work.issn,
        "ISBN": " ".join(work.isbn),
        "page": work.number or full_pages(work.page),
        "genre": "Preprint" if work.preprint else None,
        "status": "advance online publication" if work.ahead_of_print else None,
        "language": work.language,
        "DOI": article.doi,
        "PMID": article.pmid,
        "PMCID": article.pmcid,
        "URL": work.url,
        "source": "PubMed" if article.pmid else None,
        "note": " ".join(notes(work)),
    }
    return {name: value for name, value in variables.items() if value}


def _csl_person(name: Name) -> dict[str, str]:
    """A name variable; a group, or a name of one word, is `literal`."""
    parts = {"family": name.family, "given": name.given, "suffix": name.suffix}
    return {"literal": name.literal} if name.literal else {part: text for part, text in parts.items() if text}

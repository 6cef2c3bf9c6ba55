"""Text to LaTeX that compiles with a plain UTF-8 set-up: special characters, Greek, small figures, signs."""

import re

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
    r"|(?P<mark>[\^_])\((?P<inside>(?:[^()]|\([^()]*\))*)\)"
)


def latex(text: str) -> str:
    """`Ca²⁺ & β_(1)` -> `Ca\\textsuperscript{2+} \\& $\\beta$\\textsubscript{1}`; letters with accents stay."""
    pieces, at = [], 0
    for script in _SCRIPT.finditer(text):
        pieces += [_plain(text[at : script.start()]), _scripted(script)]
        at = script.end()
    return "".join([*pieces, _plain(text[at:])])


def _scripted(script: re.Match[str]) -> str:
    """One run of small figures, or one `^(...)` or `_(...)` of `scripts`, as a LaTeX command."""
    if script["raised"]:
        return f"\\textsuperscript{{{''.join(_RAISED[c] for c in script['raised'])}}}"
    if script["lowered"]:
        return f"\\textsubscript{{{''.join(_LOWERED[c] for c in script['lowered'])}}}"
    command = "textsuperscript" if script["mark"] == "^" else "textsubscript"
    return f"\\{command}{{{_plain(script['inside'])}}}"


def _plain(text: str) -> str:
    return "".join(_CHARACTERS.get(character, character) for character in text)

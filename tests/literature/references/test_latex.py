"""LaTeX of names and titles as text."""

import pytest

from bio_mcp.literature.references.files import text_of


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"M{\"u}ller and M\"{u}ller and M\"uller", "Müller and Müller and Müller"),
        (r"Dvo\v{r}{\'a}k, Anton{\'\i}n", "Dvořák, Antonín"),
        (r"{\c C}elik \c{s} {\H o}", "Çelik ş ő"),
        (r"{\AA}ngstr{\"o}m {\O}rsted {\ss} \L{}ukasz", "Ångström Ørsted ß Łukasz"),
        (r"$\beta$-catenin \textit{in vivo}, $\Delta$F508", "β-catenin in vivo, ΔF508"),
        (r"$\varepsilon$ and $\lambda$ and $\Omega$", "ε and λ and Ω"),
        (r"5 \% \& \#1 a\_b", "5 % & #1 a_b"),
        (r"a set \{x\} {of {nested}} braces", "a set {x} of nested braces"),
        (r"$p \leq 0.05$, 3 $\pm$ 1", "p ≤0.05, 3 ± 1"),
        ("pages 1--2 --- ``quoted'' J.~Doe", "pages 1–2 — “quoted” J. Doe"),
        (r"\unknowncommand{kept} \nonsense", "kept"),
        (r"\v{S}ali and {\v S}ali, Fran\c{c}ois \c Cetin", "Šali and Šali, François Çetin"),
        (r"H$_2$O and CO$_{2}$, a~b   c", "H_2O and CO_2, a b c"),
        ("", ""),
        ("\\", "\\"),
    ],
)
def test_what_is_typed_becomes_what_is_meant(latex, text):
    assert text_of(latex) == text


@pytest.mark.parametrize("latex", [r"\'" * 50_000, "\\" * 100_000, "{" * 100_000, r"\v{" * 40_000])
def test_what_is_no_latex_has_no_braces_left_and_ends(latex):
    assert not set(text_of(latex)) & {"{", "}"}

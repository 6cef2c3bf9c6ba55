"""Mixed content as a reader would print it."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from bio_mcp.literature.medline.article import orcid
from bio_mcp.literature.medline.text import plain, subscript, superscript

MATH = '<m:math xmlns:m="http://www.w3.org/1998/Math/MathML">{}</m:math>'


def text(xml):
    return plain(etree.fromstring(f"<T>{xml}</T>"))


@pytest.mark.parametrize(
    ("xml", "printed"),
    [
        ("5 m<sup>2</sup>", "5 m²"),
        ("H<sub>2</sub>O and CO<sub>2</sub>", "H₂O and CO₂"),
        ("10<sup>-3</sup>, 10<sup>−3</sup>, 10<sup>–3</sup>", "10⁻³, 10⁻³, 10⁻³"),
        ("Ca<sup>2+</sup>", "Ca²⁺"),
        ("PM<sub>2.5</sub>", "PM₂.₅"),
        ("C<sub>max</sub>", "Cₘₐₓ"),
        ("ADAM17<sup>-/-</sup>", "ADAM17⁻/⁻"),
        ("p53<sup>R175H</sup>", "p53ᴿ¹⁷⁵ᴴ"),
        ("BRAF<sup>V600E</sup>", "BRAFⱽ⁶⁰⁰ᴱ"),
        ("Pdx1<sup>Cre</sup>", "Pdx1^(Cre)"),
        ("k<sub>cat</sub>", "k_(cat)"),
        ("NF-<sub>κ</sub>B", "NF-_(κ)B"),
        ("Foo<sup>®</sup>", "Foo®"),
        ("<sup>18</sup>F-FDG", "¹⁸F-FDG"),
        ("a<sup> 2 </sup>b", "a ² b"),
        ("a<sup/>b<sub> </sub>c", "ab c"),
        ("x<sub>i<sup>2</sup></sub>", "x_(i²)"),
        ("<b>Bold <i>both</i></b> <u>under</u>", "Bold both under"),
        ("<i>a</i> <i>b</i>", "a b"),
        ("a\n   b\tc  d", "a b c d"),
        ("5\u2009mg and 5\u00a0mg", "5\u2009mg and 5\u00a0mg"),
        ("", ""),
        (" ", ""),
    ],
)
def test_marked_text_reads_as_printed(xml, printed):
    assert text(xml) == printed


@pytest.mark.parametrize(
    ("xml", "printed"),
    [
        ("<m:msup><m:mi>R</m:mi> <m:mn>2</m:mn></m:msup>", "R²"),
        ("<m:msubsup><m:mi>T</m:mi><m:mn>2</m:mn><m:mo>∗</m:mo></m:msubsup>", "T₂∗"),
        ("<m:mfrac><m:mn>1</m:mn><m:mrow><m:mi>a</m:mi><m:mo>+</m:mo><m:mi>b</m:mi></m:mrow></m:mfrac>", "1/(a+b)"),
        ("<m:mover><m:mi>x</m:mi><m:mo>¯</m:mo></m:mover>", "x\u0304"),
        ("<m:msqrt><m:mi>n</m:mi></m:msqrt>", "√(n)"),
        ("<m:mroot><m:mi>n</m:mi><m:mn>3</m:mn></m:mroot>", "³√(n)"),
        ("<m:mfenced><m:mi>a</m:mi><m:mi>b</m:mi></m:mfenced>", "(a,b)"),
        ("<m:mi>f</m:mi><m:mo>\u2061</m:mo><m:mi>x</m:mi>", "fx"),
        ("<m:mi>a</m:mi><m:mspace/><m:mtext>if b</m:mtext>", "a if b"),
        ("<m:semantics><m:mi>a</m:mi><m:annotation>LaTeX</m:annotation></m:semantics>", "a"),
        ("<m:munderover><m:mo>∑</m:mo><m:mn>1</m:mn><m:mi>n</m:mi></m:munderover>", "∑₁ⁿ"),
        ("<m:mtable><m:mtr><m:mtd><m:mn>1</m:mn></m:mtd><m:mtd><m:mn>2</m:mn></m:mtd></m:mtr></m:mtable>", "1, 2"),
        ("", ""),
    ],
)
def test_a_formula_reads_on_one_line(xml, printed):
    assert text(MATH.format(xml)) == printed


@given(st.text(alphabet="0123456789+-=()", min_size=1, max_size=12))
def test_folding_brings_back_what_a_script_held(inner):
    for script in (superscript, subscript):
        assert unicodedata.normalize("NFKC", script(inner)).replace("−", "-") == inner


@given(st.text(max_size=20))
def test_a_script_never_becomes_bare_letters_or_digits(inner):
    stripped = inner.strip()
    for script in (superscript, subscript):
        shown = script(inner)
        assert shown.strip() == "" or not stripped.isascii() or not stripped.isalnum() or shown.strip() != stripped


@pytest.mark.parametrize(
    "printed",
    [
        "0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097", "http://orcid.org/0000000218250097",
        " orcid.org/0000-0002-1825-0097/ ", "0000000218250097",
    ],
)  # fmt: skip
def test_every_form_of_an_orcid_becomes_the_bare_one(printed):
    assert orcid(printed) == "0000-0002-1825-0097"


@pytest.mark.parametrize("printed", [None, "", "0000-0002-1825", "https://orcid.org/", "00000002182500971"])
def test_what_is_no_orcid_is_none(printed):
    assert orcid(printed) is None

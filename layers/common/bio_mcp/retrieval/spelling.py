"""Word lists of the analysis: stop words, Greek letters, and one spelling for words that have several."""

import re

STOP_WORDS = frozenset(
    """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with
    """.split()
)
"""Left out of the index and of queries."""

QUERY_STOP_WORDS = STOP_WORDS | frozenset(
    """
    i me my we our ours us you your he him his she her its them what which who whom whose am were been being have
    has had having do does did doing because until while about against between through during before after above
    below from up down out off over under again further once here when where why how all any both each few more most
    other some nor only own same so than too very can just should now may might could would also
    """.split()
)
"""Left out of queries: function words that no paper is about. They stay in the index, for a query of nothing else."""

GREEK = dict(
    zip(
        "αβγδεζηθικλμνξοπρσςτυφχψω",
        """
        alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma sigma tau
        upsilon phi chi psi omega
        """.split(),
        strict=True,
    )
)
GREEK_NAMES = frozenset(GREEK.values())

SEPARATORS = str.maketrans(
    dict.fromkeys("‐‑‒–—―−﹣－", "-") | dict.fromkeys("’‘ʼ′`´＇", "'") | dict.fromkeys("·∙⋅", ".")
    | dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", "")
)  # fmt: skip
"""Every dash, apostrophe and raised decimal point to its ASCII form; invisible characters to nothing."""

_IRREGULAR = {
    "bacteria": "bacterium", "children": "child", "criteria": "criterion", "feet": "foot", "foci": "focus",
    "fungi": "fungus", "indices": "index", "larvae": "larva", "loci": "locus", "men": "man", "mice": "mouse",
    "mitochondria": "mitochondrion", "nuclei": "nucleus", "phenomena": "phenomenon", "sera": "serum",
    "spectra": "spectrum", "stimuli": "stimulus", "teeth": "tooth", "vertebrae": "vertebra", "women": "woman",
}  # fmt: skip
_OUR = re.compile(r"(behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|od|rig|rum|tum|vap)our")
_ISE = re.compile(r"is(e|ed|es|er|ers|ing|ation|ations)$")
_YSE = re.compile(r"ys(e|ed|er|ing)$")
_OE = re.compile(r"^oe|oe(?=d[ei])|(?<=[hnu])oe(?=a)|(?<=[fc])oe(?=[tl])|(?<=am)oe(?=b)|(?<=hom)oe")
_SES = tuple("stases gnoses broses croses leroses tenoses tomoses mboses choses uroses yses theses".split())


def one_spelling(word: str) -> str:
    """Map all spellings of a lower-case word to one: "tumour" -> "tumor", "diagnoses" -> "diagnosis".

    The result is not always a word ("aero" -> "ero"), but it is the same for documents and queries.
    """
    word = _IRREGULAR.get(word, word)
    if len(word) < 5:
        return word
    word = _OUR.sub(r"\1or", word) if "our" in word else word
    word = (_OE.sub("e", word) if "oe" in word else word).replace("ae", "e")
    if word.endswith(("tre", "bre")):
        return f"{word[:-2]}er"
    if len(word) < 7:
        return word
    if word.endswith(_SES):
        return f"{word[:-2]}is"
    word = _ISE.sub(r"iz\1", word) if "is" in word else word
    return _YSE.sub(r"yz\1", word) if "ys" in word else word

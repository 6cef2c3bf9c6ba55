"""Filter values as people write them: publication types and languages by PubMed's names, by codes, by other names.

Publication types are those of NLM's Medical Subject Headings (category V). What is written is compared without case,
punctuation, order and plural: "Phase 3 clinical trials" is "Clinical Trial, Phase III".
"""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache

from bio_mcp.errors import InvalidInput
from bio_mcp.literature.languages import MARC, two_letters
from bio_mcp.literature.quality import DESIGNS
from bio_mcp.retrieval.analysis import fold, one_spelling

_TYPES = """
D000076362 Adaptive Clinical Trial
D019484 Address
D020493 Autobiography
D016417 Bibliography
D019215 Biography
D002363 Case Reports
D019494 Catalog
D020469 Chronology
D016419 Classical Article
D016429 Clinical Conference
D000068397 Clinical Study
D016430 Clinical Trial
D017426 Clinical Trial, Phase I
D017427 Clinical Trial, Phase II
D017428 Clinical Trial, Phase III
D017429 Clinical Trial, Phase IV
- Clinical Trial Protocol
- Clinical Trial, Veterinary
D020470 Collected Work
D016420 Comment
D003160 Comparative Study
D016423 Congress
D016446 Consensus Development Conference
D016447 Consensus Development Conference, NIH
D018848 Controlled Clinical Trial
D016439 Corrected and Republished Article
D064886 Dataset
D016437 Dictionary
D016435 Directory
D016438 Duplicate Publication
D016421 Editorial
D058537 Electronic Supplementary Materials
D004740 English Abstract
D019502 Ephemera
D062165 Equivalence Trial
D020474 Essay
D023362 Evaluation Study
D000075742 Expression of Concern
D016221 Festschrift
D022903 Government Publication
D016431 Guideline
D016456 Historical Article
D054710 Interactive Tutorial
D017203 Interview
D054711 Introductory Journal Article
D016428 Journal Article
D019531 Lecture
D016418 Legal Case
D020485 Legislation
D016422 Letter
D016416 Meeting Abstract
D017418 Meta-Analysis
D016467 Monograph
D016448 Multicenter Study
D000071083 Network Meta-Analysis
D016433 News
D018431 Newspaper Article
D064888 Observational Study
- Observational Study, Veterinary
D016424 Overall
D029282 Patient Education Handout
D016453 Periodical Index
D062210 Personal Narrative
D020495 Pictorial Work
D020496 Popular Work
D019477 Portrait
D017065 Practice Guideline
D065007 Pragmatic Clinical Trial
D000076942 Preprint
D016425 Published Erratum
D016449 Randomized Controlled Trial
D000081262 Randomized Controlled Trial, Veterinary
D057666 Research Support, American Recovery and Reinvestment Act
D052061 Research Support, N.I.H., Extramural
D052060 Research Support, N.I.H., Intramural
D013485 Research Support, Non-U.S. Gov't
D013486 Research Support, U.S. Gov't, Non-P.H.S.
D013487 Research Support, U.S. Gov't, P.H.S.
D057689 Research Support, U.S. Government
D016441 Retracted Publication
D016440 Retraction of Publication
D016454 Review
D016426 Scientific Integrity Review
- Scoping Review
D020500 Statistics
D000078182 Systematic Review
D016427 Technical Report
D018486 Twin Study
D022902 Unpublished Work
D023361 Validation Study
D059040 Video-Audio Media
D057405 Webcast
"""
PUBLICATION_TYPES: Mapping[str, str] = {
    name: ui if ui != "-" else name.lower()
    for ui, _, name in (line.partition(" ") for line in _TYPES.split("\n")[1:-1])
}
"""By PubMed's name, what the index has of a publication type: its UI, or its name in lower case where we know no UI."""

_BELOW = {
    "Clinical Study": ("Clinical Trial", "Observational Study"),
    "Clinical Trial": (
        "Adaptive Clinical Trial", "Clinical Trial, Phase I", "Clinical Trial, Phase II", "Clinical Trial, Phase III",
        "Clinical Trial, Phase IV", "Controlled Clinical Trial",
    ),
    "Consensus Development Conference": ("Consensus Development Conference, NIH",),
    "Controlled Clinical Trial": ("Randomized Controlled Trial",),
    "Guideline": ("Practice Guideline",),
    "Meta-Analysis": ("Network Meta-Analysis",),
    "Randomized Controlled Trial": ("Equivalence Trial", "Pragmatic Clinical Trial"),
    "Research Support, U.S. Government": (
        "Research Support, American Recovery and Reinvestment Act", "Research Support, N.I.H., Extramural",
        "Research Support, N.I.H., Intramural", "Research Support, U.S. Gov't, Non-P.H.S.",
        "Research Support, U.S. Gov't, P.H.S.",
    ),
}  # fmt: skip
"""The narrower types of a type in MeSH, which PubMed's [pt] finds too."""

_OTHER_NAMES = {
    "Clinical Trial Protocol": "protocol, study protocol, trial protocol",
    **{f"Clinical Trial, Phase {phase}": f"phase {phase}, phase {phase} study" for phase in ("I", "II", "III", "IV")},
    "Comment": "commentary",
    "Consensus Development Conference": "consensus, consensus statement",
    "Letter": "letter to the editor",
    "Meta-Analysis": "metaanalysis",
    "Published Erratum": "erratum, errata, correction, corrigendum",
    "Randomized Controlled Trial": "rct, randomized trial, randomized clinical trial, randomized controlled study",
    "Retracted Publication": "retracted, retracted article, retracted paper",
    "Retraction of Publication": "retraction, retraction notice",
    "Review": "review article, literature review",
    "Video-Audio Media": "video",
}
_PHASES = {"i": "1", "ii": "2", "iii": "3", "iv": "4"}
_UI = re.compile(r"D\d{6,9}", re.IGNORECASE | re.ASCII)


def publication_type(written: str, field: str = "") -> str:
    """What the index has of a publication type that is given by name or UI.

    Raises `InvalidInput`, which names the nearest types, for any other text; `field` is the argument it is of.
    """
    if _UI.fullmatch(written.strip()):
        return written.strip().upper()
    if found := _types_by_key().get(_key(written)):
        return found
    raise _unknown(written, "publication type", PUBLICATION_TYPES, "Review or Randomized Controlled Trial", field)


@cache
def with_narrower_types(stored: str) -> frozenset[str]:
    """A publication type as the index has it, with all that stand below it in MeSH."""
    name = next((name for name, each in PUBLICATION_TYPES.items() if each == stored), "")
    below = (with_narrower_types(PUBLICATION_TYPES[each]) for each in _BELOW.get(name, ()))
    return frozenset({stored}).union(*below)


@cache
def _types_by_key() -> Mapping[str, str]:
    """What the index has of each type, by its names without case, order, punctuation and plural."""
    own = [(name, ui) for ui, (_, name) in DESIGNS.items()]
    other = [(each, PUBLICATION_TYPES[name]) for name, names in _OTHER_NAMES.items() for each in names.split(",")]
    return {_key(name): stored for name, stored in (*own, *other, *PUBLICATION_TYPES.items())}


def _key(written: str) -> str:
    words = re.findall(r"[a-z0-9]+", re.sub("[.']", "", fold(written[:200]).lower()))
    return " ".join(sorted({_PHASES.get(word) or _singular(one_spelling(word)) for word in words}))


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith(("is", "us", "ss")):
        return word
    return re.sub("ie$", "y", re.sub("sse$", "ss", word[:-1])) if word.endswith("s") else word


def language(written: str, field: str = "") -> str:
    """The code that PubMed has for a language that is given by English name or code: "ger" for "German", "de", "deu".

    Raises `InvalidInput`, which names the nearest languages; `field` is the argument that it is of.
    """
    asked = " ".join(written.split()).casefold()
    found = _languages().get(asked) or _languages().get(two_letters(asked) or "")
    if found:
        return found
    raise _unknown(written, "language", [name for name, _ in MARC.values()], "English or ger", field)


@cache
def _languages() -> Mapping[str, str]:
    """PubMed's codes, by English name, by BCP 47 tag and by themselves."""
    known = {each.casefold(): code for code, names in MARC.items() for each in (code, *names)}
    several = {"multiple languages": "mul", "undetermined": "und"}
    return known | several | {code: code for code in several.values()}


def _unknown(written: str, what: str, names: Iterable[str], such_as: str, field: str) -> InvalidInput:
    by_lower = {name.lower(): name for name in names}
    near = [by_lower[each] for each in get_close_matches(written[:100].strip().lower(), by_lower, 3, 0.6)]
    advice = f"did you mean {' or '.join(near)}?" if near else f"give PubMed's name or code for it, such as {such_as}"
    return InvalidInput(f"{written[:60]!r} is no {what} of PubMed: {advice}", field=field)

"""Title case, sentence case and full stops for titles of articles and journals.

Case changes only where a word is plain lower-case letters, so that gene names, formulas, units and abbreviations
(p53, miR-21, mRNA, pH, 5-HT) stay as they are. Words that must stay lower case are listed in `words`; binomials are
recognised by their Latin endings, since PubMed's italics do not survive in a record.
"""

import re

from bio_mcp.literature.citing.words import ENGLISH, FOREIGN, LATIN, SMALL, UNITS

_WORD = re.compile(r"[^\s\-–—/]+")
_STARTS = re.compile(r"(?:(?<=[:?!.] )|(?<=— )|^)(?P<open>[\[\"'“‘(¿¡]*)(?P<word>[^\s\[\"'“‘(]+)")
_QUALIFIER = re.compile(r"\s*\((?:[^()]|\([^()]*\))*\)$")
_CUT = re.compile(r"\s+[:=]\s+|\s*;\s|\s\[")
_PLOS = re.compile(r"\bPloS\b")  # NLM's catalogue has it so
_EPITHET = re.compile(r"[a-z]{3,}(?:i|ii|ae|us|um|is|ensis|ans|ens|a|ides|oides|or|ix|es)")
_GENUS = re.compile(r"[A-Z](?:[a-z]+(?:us|a|um|is|es|er|ax|ix|on|ma|as|os|ys|ella|ia|ium|ces)|\.)")
_NO_EPITHET = re.compile(
    r"(?:virus|status|focus|fetus|sinus|thymus|uterus|humerus|serum|data|area|trauma|coma|edema|asthma|media|criteria|"
    r"bacteria|analysis|basis|axis|pelvis|crisis|patients|genes|types|species|disease|diseases|studies|cases|plasma|"
    r"cells|strains|isolates|phenomena|receptor|factor|tumor|inhibitor|donor|survivors|via|extra|infra|"
    r".*(?:itis|osis|emia|oma|asis|ysis|esis|ensis es|opathia|uria|plegia|ectasia|ias|ies|lines|tides|tics|ors))"
)


def with_full_stop(text: str) -> str:
    """`text` with a full stop, unless it already ends a sentence."""
    bare = text.rstrip("]”\"')")
    return text if not text or bare.endswith((".", "?", "!", "…")) else f"{text}."


def sentence_case(title: str) -> str:
    """APA's sentence case: a capital at the start and after a colon; every other letter stays as PubMed has it."""
    return _STARTS.sub(lambda match: match["open"] + _capital(match["word"]), title)


def headline(title: str) -> bool:
    """Whether the title is already printed in title case: over 60 % of its longer words begin with a capital."""
    words = [word.strip("[]()\"'“”‘’,;:.?!") for word in title.split()[1:]]
    long = [word for word in words if len(word) > 3 and (word.islower() or word.istitle())]
    return len(long) > 2 and sum(map(str.istitle, long)) > 0.6 * len(long)


def title_case(title: str) -> str:
    """MLA's title case: principal words begin with a capital; articles, conjunctions, prepositions and `to` do not."""
    words = list(_WORD.finditer(title))
    starts = {match.start("word") for match in _STARTS.finditer(title)}
    lowered = SMALL - {"a"} if headline(title) else frozenset()
    pieces, at = [], 0
    for i, match in enumerate(words):
        first_or_last = i in (0, len(words) - 1) or any(match.start() <= start < match.end() for start in starts)
        before = words[i - 1][0] if i else ""
        pieces += [title[at : match.start()], _title_case_word(match[0], before, first_or_last, lowered)]
        at = match.end()
    return "".join([*pieces, title[at:]])


def journal_title(title: str) -> str:
    """NLM's catalogue title as it is cited: `Lancet (London, England)` -> `Lancet`.

    Subtitles and titles in a second language are dropped. English titles get title case; others keep NLM's case.
    """
    bare = _CUT.split(_QUALIFIER.sub("", title.strip().rstrip(".")), maxsplit=1)[0] or title
    first, point, second = bare.partition(". ")
    if point and _foreign(second) and not _foreign(first):
        bare = first
    bare = _PLOS.sub("PLoS", bare)
    return bare if _foreign(bare) else title_case(bare)


def _foreign(title: str) -> bool:
    words = {word.strip(",.&()").lower() for word in title.split()}
    return bool(words & FOREIGN) and not words & ENGLISH


def _title_case_word(word: str, before: str, first_or_last: bool, lowered: frozenset[str]) -> str:
    """One word in title case: small words stay lower case inside, units and Latin binomials everywhere.

    `lowered`: words that the printed title capitalises and MLA does not; they are lowered.
    """
    bare = word.strip("()[]{}\"'“”‘’,;:.?!").lower()
    if not first_or_last and bare in lowered and word == bare.capitalize():
        return bare
    if not first_or_last and (bare in SMALL or bare in LATIN or bare in UNITS):
        return word
    if first_or_last and bare in UNITS:
        return word
    if _EPITHET.fullmatch(word.rstrip(",;:.?!)]")) and _GENUS.fullmatch(before) and not _NO_EPITHET.fullmatch(bare):
        return word
    return _capital(word)


def _capital(word: str) -> str:
    """Capitalise a word that is plain lower case: `mRNA`, `p53`, `pH` and `α-` stay."""
    match = re.match(r"[^\w]*([a-zà-öø-ÿ])", word)
    core = word[match.end() - 1 :] if match else ""
    letters = re.split(r"[-–/]", core)[0].rstrip("()[]\"'“”‘’,;:.?!")
    plain = re.fullmatch(r"[^\W\d_A-Z]+(?:['’][a-z]+)?", letters) and (len(letters) > 1 or letters in "aeix")
    if not match or not plain or letters != letters.lower():
        return word
    at = match.end() - 1
    return word[:at] + word[at].upper() + word[at + 1 :]

"""Split a biomedical abstract into sentences, as character spans."""

import re
from itertools import pairwise

Span = tuple[int, int]

ABBREVIATIONS = frozenset(
    """
    al approx assoc ca cf co dept diam dr e.g eg eq eqs etc exp ext fig figs i.e ie inc incl ltd max min mr mrs ms
    nr ns no nos p.o prof ref refs resp sec sp spp ssp st subsp subspp suppl tab u.s u.k univ var viz vol vs wt yr
    yrs i.v i.p i.m s.c b.i.d t.i.d q.i.d
    """.split()
)

# begins with one class of characters, which is searched for quickly, and tells by looking back which it was;
# nowhere does a run of characters begin to match at more than one of them: the time is that of the text's length;
# a full stop, with what closes the sentence after it; then either space and something that can begin a sentence
# ("p53", "mRNA", "α-tubulin" too) or, as in texts whose sections were glued together, a capitalised word at once
_END = re.compile(
    r"""[.!?。！？\n](?:
          (?<=[.!?]) (?<![.!?].) [.!?]*+ ['"”’)\]]*
                              (?: \s+ (?= ['"“‘(\[]* (?: [^\W_a-z] | [a-z]{0,3}[A-Z0-9-]) )
                              | (?<= [a-zα-ω0-9%)\]][.!?] ) (?= [A-Z][a-z]+ [\s,-] ) )
        | (?<=[。！？]) [。！？]* \s*
        | (?<=\n) \s*
        )""",
    re.VERBOSE,
)
_LONGER = 1 + max(map(len, ABBREVIATIONS))  # letters that no abbreviation has


def sentence_spans(text: str) -> list[Span]:
    """(start, end) of each sentence, in order, without the space around it.

    The spans do not overlap and cover every character of `text` that is not a space. Time is linear in the text.
    """
    cuts = [0, *[match.end() for match in _END.finditer(text) if _ends(text, match)], len(text)]
    spans = [trim(text, start, end) for start, end in pairwise(cuts)]
    return [span for span in spans if span[0] < span[1]]


def _ends(text: str, match: re.Match[str]) -> bool:
    """Whether this full stop ends a sentence, and no abbreviation or initial."""
    stop, end = match.span()
    if text[stop] != "." or (text[max(0, stop - _LONGER) : stop].isalpha() and stop >= _LONGER):
        return True
    before = text[max(0, stop - 24) : stop].replace("(", " ").replace("[", " ")
    word = "" if not before or before[-1].isspace() else before.split()[-1]
    if word.lower() in ABBREVIATIONS:
        return False
    glued = not text[end - 1].isspace()
    initial = len(word) == 1 and word.isupper()
    if not initial:
        return not (glued and len(word) == 1)
    return not glued and not _begins_or_follows_initial(text, stop - 1)


def _begins_or_follows_initial(text: str, at: int) -> bool:
    while at and text[at - 1].isspace():
        at -= 1
    return not at or text[at - 1] == "."


def trim(text: str, start: int, end: int) -> Span:
    """The span without the space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end

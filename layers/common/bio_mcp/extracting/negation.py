"""What a sentence denies, and what it leaves open (after NegEx, Chapman et al. 2001)."""

import re
from collections.abc import Iterator

Span = tuple[int, int]


def _any_of(phrases: str) -> re.Pattern[str]:
    listed = sorted((each.strip() for each in phrases.replace("\n", " ").split(";")), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)


_NO_DENIAL = _any_of("""
no increase; no change; no further; not only; not just; not merely; not limited to; not necessarily; no doubt; without
doubt; without difficulty; not to mention; gram[- ]negative; negative control; if not all; nor only
""")
_BEFORE = _any_of(r"""
no; not; never; neither; nor; without; cannot; can't; don't; doesn't; didn't; isn't; aren't; wasn't; weren't; won't;
absence of; absent; lack of; lacks?; lacked; lacking; free of; devoid of; denie[sd]; deny; denying; rules? out; ruled
out; ruling out; fail(?:s|ed)? to; failure to; negative for; no longer; none; rather than; instead of; unrelated to;
excludes?; excluded; no evidence; insufficient evidence; contrary to; false(?:ly)?; myth
""")
_AFTER = _any_of(r"""
(?:is|was|were|are|has been|have been) (?:ruled out|excluded|denied|absent|refuted|disproved|withdrawn);
(?:is|was|were|are) unlikely; did not occur; unlikely
""")
_BREAK = re.compile(
    r";|:|\b(?:but|however|although|though|except|whereas|while|yet|nevertheless|still|because|since)\b", re.IGNORECASE
)
_OPEN = _any_of(r"""
may; might; could; would; can; possibl[ey]; possibility; potential(?:ly)?; probabl[ey]; perhaps; likely; presumably;
unclear; unknown; uncertain; unproven; controversial; debated; whether; if; suggest(?:s|ed|ing)?; hypothes\w+;
assum\w+; speculat\w+; suspect\w*; believed; thought to; claim(?:s|ed)?; alleged(?:ly)?; appears?; appeared; seems?;
seemed; propos(?:e|es|ed|ing); theoretical(?:ly)?; conceivabl[ey]; conjecture; we
(?:asked?|aim(?:ed)?|test(?:ed)?|investigated?|studied|examined?); aim(?:s|ed)? (?:to|of|was|is); objective; purpose;
to (?:determine|investigate|assess|evaluate|examine|test|study); should be
(?:studied|investigated|examined|tested|confirmed); remains? to be; further (?:studies|research|trials)
""")
_THAI_DENIAL = ("ไม่", "มิได้", "ปราศจาก", "ไร้")
_THAI_NO_DENIAL = re.compile("อาหารไม่ย่อย|นอนไม่หลับ|ไม่เพียง|ไม่ว่า|ไม่นาน")
_THAI_OPEN = ("อาจ", "คาดว่า", "น่าจะ", "สันนิษฐาน", "หรือไม่", "ยังไม่", "เชื่อว่า")
REACH = 80  # characters that a denial reaches, where nothing ends it before


def denied(sentence: str) -> bytearray:
    """Whether each character is denied: what follows "no", up to "but", a semicolon or `REACH`, and so on."""
    marks = bytearray(len(sentence))
    for start, end in _denied(sentence):
        marks[start:end] = b"\1" * (end - start)
    return marks


def _denied(sentence: str) -> Iterator[Span]:
    hidden = _without_no_denials(sentence)
    for cue in _BEFORE.finditer(hidden):
        reach = min(cue.end() + REACH, len(hidden))
        ends = _BREAK.search(hidden, cue.end(), reach)
        yield cue.end(), ends.start() if ends else reach
    for cue in _AFTER.finditer(hidden):
        begins = [max(cue.start() - REACH, 0)]
        begins += [each.end() for each in _BREAK.finditer(hidden, begins[0], cue.start())]
        yield begins[-1], cue.start()
    for word in _THAI_DENIAL:
        for found in re.finditer(word, hidden):
            yield found.end(), min(found.end() + REACH, len(hidden))


def _without_no_denials(text: str) -> str:
    """The text, as long as it is, with what only looks like a denial blotted out."""
    for pattern in (_NO_DENIAL, _THAI_NO_DENIAL):
        text = pattern.sub(lambda found: "_" * len(found.group()), text)
    return text


def denies(text: str) -> bool:
    """Whether anything in the text is a denial."""
    hidden = _without_no_denials(text)
    return bool(_BEFORE.search(hidden) or _AFTER.search(hidden)) or any(word in hidden for word in _THAI_DENIAL)


def leaves_open(text: str) -> bool:
    """Whether the text asks, guesses or announces instead of stating."""
    return "?" in text or bool(_OPEN.search(text)) or any(word in text for word in _THAI_OPEN)

"""The list of authors at the beginning of a reference."""

import re
from dataclasses import dataclass

_UPPER = "A-Z" + "".join(chr(code) for code in range(0xC0, 0x250) if chr(code).isupper())
_LOWER = "a-z" + "".join(chr(code) for code in range(0xC0, 0x250) if chr(code).islower())
_INNER = r"(?:van der|van den|van de|de la|de los|de|del|der|den|dos|da|di|du|van|von|la|le|e|y|zu|el|al|bin)"
_OUTER = "Van|Von|De|Del|Della|Di|Da|Du|La|Le|El|Al|Ten|Ter|St\\.?"
_PARTICLE = rf"(?:(?:{_INNER}|(?:{_OUTER})(?=\s[{_UPPER}a-z]))[ -]+(?:'t )?){{0,3}}"
_WORD = (
    rf"(?:[{_UPPER}][\w’'`´ʼ‐–-]{{0,40}}[{_LOWER}’][\w’'`´ʼ‐–-]{{0,20}}|[{_UPPER}]’?[A-Z’'‐-]{{1,30}}"
    r"|O[’'][A-Z]\w{1,30}|d[’'][A-Z]\w{1,30}|O(?=,?\s[A-Z]))"
)
_SURNAME = rf"{_PARTICLE}{_WORD}(?:[ -](?:{_INNER} )?{_WORD}){{0,2}}?"
_RANK = r"(?:,?\s(?:Jr|Sr|2nd|3rd|4th|II|III|IV)\b\.?)?"
_BARE = rf"[{_UPPER}](?:[{_UPPER}]|-[{_UPPER}]){{0,4}}"
_POINTED = rf"(?:(?:[{_UPPER}]|Yu|Ya|Zh|Kh|Ch|Sh|Th|Ph|Ts|Iu|Ia)\.(?:\s?[-‐]\s?|\s)?(?:(?:de|van|von) )?){{1,5}}"
_NAME_ENDS = r"(?=\s*(?:[,;:&(]|and\b|et\b|\.|$))"
_FORMS = {
    "bare": rf"{_SURNAME}\s{_BARE}(?![\w.]*[a-z])(?!\.\s?[{_UPPER}]\.){_RANK}",
    "comma": rf"{_SURNAME},\s{_POINTED}(?<!\s){_RANK}",
    "comma_bare": rf"{_SURNAME},\s{_BARE}(?![\w]){_RANK}",
    "straight": rf"(?!J\.\s[A-Z]\w+\.){_POINTED}\s?{_SURNAME}(?![\w’'-]){_RANK}{_NAME_ENDS}(?!\.\s?[A-Z])",
    "pointed": rf"{_SURNAME}\s{_POINTED}(?<!\s){_RANK}",
}
_NEXT = {
    "bare": ("bare", "pointed"),
    "comma": ("comma", "straight"),
    "comma_bare": ("comma_bare", "bare"),
    "straight": ("straight",),
    "pointed": ("pointed", "bare"),
}
_NAMES = {form: re.compile(pattern) for form, pattern in _FORMS.items()}
_SEPARATOR = re.compile(
    r"\s*(?:,\s*(?:&|and|und|et)\s|;\s*(?:&|and)?\s*|,\s*(?:…|\.\s?\.\s?\.)\s*(?:&\s*)?|\s(?:&|and|und|et)\s|,\s*)\s*"
)
_ETAL = re.compile(r"[\s,;&]*(?:\bet\.?\s*al\b\.?|\band others\b|\band colleagues\b|…|\.\s\.\s\.)", re.IGNORECASE)
_GROUPS = "Group|Consortium|Investigators|Collaborat\\w+|Network|Committee|Society|Team|Initiative|Study|Trialists"
_GROUP = re.compile(
    rf"[\s,;]+(?:for|on behalf of|and)?\s*(?:the\s)?[A-Z][^.;,]{{2,120}}?(?:{_GROUPS})\b[^.;(]{{0,40}}?(?=[.;:(])"
)
MOST = 300
_EDITORS = re.compile(r"\s*\(?\b[eE]ds?\b\.?\)?")


@dataclass(frozen=True, slots=True)
class People:
    """Names as written, whether there are more, and where the list ends in the text."""

    names: tuple[str, ...] = ()
    etal: bool = False
    end: int = 0


def people_in(text: str) -> People:
    """The authors that `text` begins with; none where it begins with something else."""
    first = next(((form, found) for form, name in _NAMES.items() if (found := name.match(text))), None)
    if first is None:
        return People()
    forms = _NEXT[first[0]]
    names, end = [first[1][0]], first[1].end()
    while len(names) < MOST and (separator := _SEPARATOR.match(text, end)):
        found = _first_match(forms, text, separator.end())
        if found is None:
            break
        names.append(found[0])
        end = found.end()
    group = _GROUP.match(text, end)
    end = group.end() if group else end
    more = _ETAL.match(text, end)
    end = more.end() if more else end
    return People(tuple(name.strip(" ,") for name in names), bool(more), end)


def _first_match(forms: tuple[str, ...], text: str, start: int) -> re.Match[str] | None:
    return next((found for form in forms if (found := _NAMES[form].match(text, start))), None)


def editors_follow(text: str, end: int) -> bool:
    """Whether the names before `end` are of editors."""
    return bool(_EDITORS.match(text, end))

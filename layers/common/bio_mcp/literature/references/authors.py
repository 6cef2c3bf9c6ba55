"""Whether the authors that a reference states are those of a record."""

import re

from bio_mcp.literature.records import Article, Author
from bio_mcp.literature.references.words import alike, folded
from bio_mcp.literature.references.works import CitedWork

COMPARED = 30  # authors of a reference
_INITIALS = re.compile(r"(?:[^\W\d_]\.?[\s-]?){1,5}")
_RANKS = frozenset(("jr", "sr", "ii", "iii", "iv", "2nd", "3rd", "4th"))


def differing_author(work: CitedWork, article: Article) -> tuple[str, str] | None:
    """The first author that is not the record's: as stated, and who is right; None where all are.

    The first one stated must be the record's first, or the group that signs it; each further one any of its authors.
    """
    people = [author for author in article.authors if author.valid] or list(article.authors)
    names = [_forms(each) for each in people]
    for place, stated in enumerate(work.authors[:COMPARED]):
        near = names[:1] + [forms for author, forms in zip(people, names, strict=True) if author.collective_name]
        among = near if place == 0 else names
        if not any(_is_named(stated, forms) for forms in among):
            if place and not article.authors_complete:
                continue
            return stated, _true(people, place)
    return None


def _true(people: list[Author], place: int) -> str:
    """The author in this place of the record; all of few, where the reference has more."""
    shown = people[place : place + 1] if place < len(people) else people[:6]
    return ", ".join(each.short_name for each in shown)


def _forms(author: Author) -> list[str]:
    """Family names as others write them: whole, and its last and first part."""
    name = _letters(author.collective_name or author.last_name or author.fore_name or "")
    parts = name.split()
    return list(dict.fromkeys(filter(None, (name, *(parts[-1:] if not author.collective_name else ()), *parts[:1]))))


def _is_named(stated: str, forms: list[str]) -> bool:
    """Whether the name as stated has one of these family names, before or after the given names."""
    whole = [word for word in _letters(stated).split() if word not in _RANKS]
    family = _letters(stated.partition(",")[0])
    longest = forms[0] if forms else ""
    candidates = {family, *whole, " ".join(whole), *_joined(whole)}
    return any(
        alike(form, each) or form.replace(" ", "") == each.replace(" ", "")
        for form in forms
        for each in candidates
        if len(each) > 1 or each == longest
    ) or (len(longest) > 12 and longest.split()[:2] == whole[:2])


def _joined(words: list[str]) -> list[str]:
    return [" ".join(words[start:end]) for start in range(len(words)) for end in range(start + 2, len(words) + 1)][:40]


def _letters(text: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", folded(re.sub(r"[’'`´ʼ]", "", text))))

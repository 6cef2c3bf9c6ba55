"""Changes to the papers of a corpus, as listeners receive them."""

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    """What happened to a paper.

    A new or changed paper that is also retracted makes two changes: `NEW` or `CHANGED`, and `RETRACTED`.
    """

    NEW = "new"
    CHANGED = "changed"
    RETRACTED = "retracted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """One change of one paper. `version` is the corpus's own; for a deleted paper it is the last one.

    Delivery is at least once. Two equal changes are the same event, so a listener can drop duplicates by comparing.
    """

    kind: ChangeKind
    pmid: str
    version: int

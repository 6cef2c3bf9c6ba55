"""What became of the papers of a corpus, as others are told of it."""

from dataclasses import dataclass
from enum import StrEnum


class ChangeKind(StrEnum):
    """A paper that is new or changed, and retracted by now, is told of twice."""

    NEW = "new"
    CHANGED = "changed"
    RETRACTED = "retracted"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class CorpusChange:
    """Something became of a paper; `version` is the corpus's, the last one for a deleted paper.

    Two that are equal tell of the same thing: it may be told more than once.
    """

    kind: ChangeKind
    pmid: str
    version: int

"""What an answer quotes: a span of a stored version of a paper."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """A passage of a paper, quoted to the byte.

    `field` is `title` or `abstract`, the abstract as `retrieval.chunking.abstract_text` joins it; `start` and `end` are
    offsets in characters into it, of the document's version `version`. `quote` is the text between them.
    """

    pmid: str
    version: int
    field: str
    start: int
    end: int
    quote: str

    @property
    def where(self) -> str:
        """The place in the contract's form: `abstract:120-245`."""
        return f"{self.field}:{self.start}-{self.end}"

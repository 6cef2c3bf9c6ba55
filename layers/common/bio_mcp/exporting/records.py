"""A paper as an export has it, and the texts that every format takes from it."""

from collections.abc import Iterator
from dataclasses import dataclass

from bio_mcp.literature.records import Article, MeshHeading
from bio_mcp.retrieval.chunking import abstract_text


@dataclass(frozen=True, slots=True)
class Record:
    """A paper, and whether a screening included it; None where nobody decided.

    A document of a project that is not in PubMed is an article without a PMID.
    """

    article: Article
    included: bool | None = None

    @property
    def abstract(self) -> str:
        """The abstract, each labelled section led by its label."""
        return abstract_text(self.article)

    @property
    def headings(self) -> list[str]:
        """MeSH headings, `Heading/qualifier/qualifier`, without marks of what the article is mainly about."""
        return ["/".join([each.name, *(part.name for part in each.qualifiers)]) for each in self.article.mesh]

    @property
    def subjects(self) -> list[str]:
        """MeSH headings, then the authors' keywords, each once."""
        return list(dict.fromkeys([*self.headings, *self.article.keywords]))


def starred(headings: tuple[MeshHeading, ...]) -> Iterator[str]:
    """`*Heading/qualifier/*qualifier`, as MEDLINE marks what an article is mainly about."""
    for each in headings:
        parts = [(each.name, each.major), *((part.name, part.major) for part in each.qualifiers)]
        yield "/".join(f"*{name}" if major else name for name, major in parts)

"""Index entries: the part of a document that goes into the passage index."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bio_mcp.literature import quality
from bio_mcp.literature.records import Article, Document
from bio_mcp.retrieval.analysis import analysed
from bio_mcp.retrieval.chunking import abstract_text
from bio_mcp.retrieval.passages import Chunk, Entry, StaticQuality
from bio_mcp.retrieval.vocabulary import Terms

TITLE_WEIGHT = 2  # a word of the title counts as often; measured, docs/benchmarks.md

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def entry_of(
    document: Document,
    chunks: Sequence[Chunk],
    vectors: "Mapping[str, NDArray[np.float32]]",
    *,
    tags: Sequence[str] = (),
    projects: Sequence[str] = (),
) -> Entry:
    """The index entry of `document`; `vectors` holds the chunks that were embedded, by chunk id."""
    article = document.article
    return Entry(
        pmid=article.pmid,
        version=document.version,
        title=article.title or article.vernacular_title,
        terms=search_terms(article),
        chunks=tuple(chunks),
        vectors=dict(vectors),
        year=quality.year(article),
        journal=article.journal.title if article.journal else None,
        journal_nlm_id=article.journal.nlm_id if article.journal else None,
        publication_types=tuple(each.ui for each in article.publication_types),
        tags=tuple(tags),
        projects=tuple(projects),
        quality=static_quality(article),
        retraction=article.retraction,
    )


def search_terms(article: Article) -> Terms:
    """The terms of title and abstract, those of the title `TITLE_WEIGHT` times; the PMID when there is neither.

    MeSH, keywords and chemicals are left out: 98 % of fresh records have no MeSH yet, so its words would make a paper's
    rank depend on NLM's indexing queue, and no judged set with MeSH is at hand to show a gain.
    """
    title, abstract = article.title or article.vernacular_title or "", abstract_text(article)
    return analysed((title, TITLE_WEIGHT), (abstract, 1)) or Terms.of([article.pmid])


def static_quality(article: Article) -> StaticQuality:
    """The components of quality that do not change with the calendar."""
    return StaticQuality(
        design=quality.design(article), journal=quality.journal_rank(article.journal), human=quality.human(article)
    )

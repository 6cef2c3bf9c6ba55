"""Documents as a sync stores them at first."""

from bio_mcp.literature.records import Article, Document
from bio_mcp.syncing.applying import revise


def documents_of(*articles: Article) -> list[Document]:
    return [document for each in articles if (document := revise(each, None)[1])]

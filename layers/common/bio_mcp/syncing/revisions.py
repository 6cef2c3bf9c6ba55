"""Is a fetched record news?"""

from dataclasses import dataclass
from enum import StrEnum

from bio_mcp.literature.fingerprint import content_hash
from bio_mcp.literature.records import Article, Document, Head


class Change(StrEnum):
    """What a record did to the corpus."""

    INSERTED = "inserted"
    UPDATED = "updated"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Revision:
    """What to do with a fetched article. `document` is what must be stored and indexed, None when nothing must."""

    change: Change
    document: Document | None = None


SKIP = Revision(Change.SKIPPED)


def revise(article: Article, head: Head | None) -> Revision:
    """Compare a fetched article with what the corpus holds.

    The version goes up by one when the content differs or the record was revised since (LR). An older PubMed
    version or an older revision never replaces a newer one. A document whose passages did not become durable is
    indexed again at its version.
    """
    fresh = content_hash(article)
    if head is None:
        return Revision(Change.INSERTED, Document(article, fresh))
    if _older(article, head):
        return SKIP
    if fresh != head.content_hash or _newer(article, head):
        change = Change.UPDATED if head.indexed_version else Change.INSERTED
        return Revision(change, Document(article, fresh, head.version + 1, head.indexed_version))
    if head.indexed_version < head.version:
        change = Change.UPDATED if head.indexed_version else Change.INSERTED
        return Revision(change, Document(article, fresh, head.version, head.indexed_version))
    return SKIP


def _older(article: Article, head: Head) -> bool:
    if article.pmid_version != head.pmid_version:
        return article.pmid_version < head.pmid_version
    return bool(article.date_revised and head.date_revised and article.date_revised < head.date_revised)


def _newer(article: Article, head: Head) -> bool:
    if article.pmid_version != head.pmid_version:
        return article.pmid_version > head.pmid_version
    if article.date_revised is None:
        return False
    return head.date_revised is None or article.date_revised > head.date_revised

"""Revisions: whether a fetched record differs from the stored one."""

from dataclasses import dataclass
from enum import StrEnum

from bio_mcp.literature.fingerprint import content_hash
from bio_mcp.literature.records import Article, Document, Head


class Change(StrEnum):
    """Effect of a record on the corpus."""

    INSERTED = "inserted"
    UPDATED = "updated"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Revision:
    """What to do with a fetched article. `document` is to be stored and indexed; None when nothing is to do."""

    change: Change
    document: Document | None = None


SKIP = Revision(Change.SKIPPED)


def revise(article: Article, head: Head | None) -> Revision:
    """Compare a fetched article with the stored one.

    The version rises by one when the content differs or the record was revised since (LR). An older PubMed version or
    an older revision never replaces a newer one. A document whose passages did not become durable is indexed again at
    its version.
    """
    new_hash = content_hash(article)
    if head is None:
        return Revision(Change.INSERTED, Document(article, new_hash))
    if _older(article, head):
        return SKIP
    if new_hash != head.content_hash or _newer(article, head):
        change = Change.UPDATED if head.indexed_version else Change.INSERTED
        return Revision(change, Document(article, new_hash, head.version + 1, head.indexed_version))
    if head.indexed_version < head.version:
        change = Change.UPDATED if head.indexed_version else Change.INSERTED
        return Revision(change, Document(article, new_hash, head.version, head.indexed_version))
    return SKIP


def _older(article: Article, head: Head) -> bool:
    """Whether the article is of an older PubMed version, or an older revision, than the stored one."""
    if article.pmid_version != head.pmid_version:
        return article.pmid_version < head.pmid_version
    return bool(article.date_revised and head.date_revised and article.date_revised < head.date_revised)


def _newer(article: Article, head: Head) -> bool:
    """Whether the article is of a newer PubMed version, or a newer revision, than the stored one."""
    if article.pmid_version != head.pmid_version:
        return article.pmid_version > head.pmid_version
    if article.date_revised is None:
        return False
    return head.date_revised is None or article.date_revised > head.date_revised

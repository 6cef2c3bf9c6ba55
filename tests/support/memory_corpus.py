"""A small corpus in memory, with everything that a reading tool asks of its backends."""

import hashlib
import re
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

import numpy as np

from bio_mcp.errors import NotFound
from bio_mcp.literature.identifiers import paper_identifiers
from bio_mcp.literature.records import (
    AbstractSection,
    Article,
    Document,
    Journal,
    MeshHeading,
    PartialDate,
    PublicationType,
    RetractionStatus,
)
from bio_mcp.retrieval.analysis import analyse
from bio_mcp.retrieval.chunking import chunks_of, entry_of
from bio_mcp.retrieval.passages import NAMESPACE
from tests.support.reference_answers import ReferenceAnswers
from tests.support.reference_indexes import ReferencePassages
from tests.support.reference_screenings import ReferenceScreenings

TODAY = date(2025, 8, 17)


def article(pmid="1", title="A title.", text="A sentence.", year=2024, types=(), mesh=(), journal=None, **more):
    return Article(
        pmid=pmid,
        title=title,
        abstract=(AbstractSection(None, None, text),) if text else (),
        publication_date=PartialDate(str(year), year) if year else None,
        publication_types=tuple(PublicationType(ui, name) for ui, name in types),
        mesh=tuple(MeshHeading(ui, name) for ui, name in mesh),
        journal=journal or Journal(title="A journal", nlm_id="0000000"),
        **{"retraction": RetractionStatus.CLEAR, **more},
    )


class WordVectors:
    """An honest embedding without a model: each term is a direction, a text the unit sum of its terms.

    The last component is the same for all, so that unrelated texts are as alike as the packaged model finds them.
    """

    fingerprint, dim, max_tokens = "words", 65, 256
    unrelated = 0.45  # their cosine

    def count_tokens(self, texts):
        return [2 + len(re.findall(r"\w+|\S", text)) for text in texts]

    def embed(self, texts):
        sums = np.stack(
            [sum((self._direction(term) for term in analyse(text)), np.full(self.dim - 1, 1e-3)) for text in texts]
        )
        own = np.sqrt(1 - self.unrelated) * sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return np.pad(own, ((0, 0), (0, 1)), constant_values=np.sqrt(self.unrelated)).astype(np.float32)

    def embed_questions(self, texts):
        return self.embed(texts)

    def _direction(self, term):
        seed = int.from_bytes(hashlib.sha256(term.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).standard_normal(self.dim - 1)


@dataclass
class MemoryDocuments:
    by_pmid: dict = field(default_factory=dict)

    def count(self):
        return len(self.by_pmid)

    def get(self, pmid):
        if pmid not in self.by_pmid:
            raise NotFound(f"no document {pmid}")
        return self.by_pmid[pmid]

    def get_many(self, pmids):
        return {pmid: self.by_pmid[pmid] for pmid in pmids if pmid in self.by_pmid}

    def at_version(self, pmid, version):
        if pmid not in self.by_pmid or self.by_pmid[pmid].version != version:
            raise NotFound(f"no version {version} of {pmid}")
        return self.by_pmid[pmid]

    def resolve(self, identifiers):
        known = {}
        for pmid in sorted(self.by_pmid, key=int, reverse=True):
            known |= dict.fromkeys(paper_identifiers(self.by_pmid[pmid].article), pmid)
        return {each: known[each] for each in identifiers if each in known}


class Corpus:
    """`Backends` over `articles`."""

    chunk_namespace = NAMESPACE
    answer_tau = 0.5
    language_model = None
    reranker = None

    def __init__(self, *articles, embeddings=None):
        self.embeddings = embeddings or WordVectors()
        self.passages, self.documents = ReferencePassages(), MemoryDocuments()
        self.answers, self.screenings = ReferenceAnswers(), ReferenceScreenings()
        self.passages.ensure_schema(self.embeddings.fingerprint, self.embeddings.dim)
        for each in articles:
            self.add(Document(each, "hash"))

    def add(self, document, projects=(), tags=()):
        chunks = chunks_of(document.article, self.embeddings.count_tokens, self.embeddings.max_tokens)
        vectors = self.embeddings.embed([each.embedded_text for each in chunks])
        by_id = {each.chunk_id: vector for each, vector in zip(chunks, vectors, strict=True)}
        entry = replace(entry_of(document, chunks, by_id), projects=tuple(projects), tags=tuple(tags))
        self.passages.upsert_chunks([entry])
        self.documents.by_pmid[document.article.pmid] = document

    def today(self):
        return TODAY

    def now(self):
        return datetime(2025, 8, 17, 12, tzinfo=UTC)

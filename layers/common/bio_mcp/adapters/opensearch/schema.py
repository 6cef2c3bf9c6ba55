"""Settings and mapping of an index: what every index has, and what that of papers has.

One document per paper, `_id` its PMID. What is filtered and ranked by stands in columns beside the text's own term
stream; the windows' vectors are nested documents, in the order of `layout`. What is only read back, the passages and
their vectors bit by bit, is `unindexed`, which is not indexed. Stored fields are compressed well: texts and the base64
of vectors take half of what they take else, and only reading by PMID looks at them. Writers alone refresh.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from typing import Any

from bio_mcp.adapters.opensearch.vectors import NO_GRAPHS, VECTOR_LAYOUTS, VectorLayout, mapping

KEYWORD = {"type": "keyword"}
TERMS = {"type": "text", "analyzer": "whitespace", "similarity": "terms", "index_options": "freqs"}
SIMILARITIES = ("LegacyBM25", "BM25")  # from OpenSearch 3 on, "BM25" leaves out the factor k1 + 1


@dataclass(frozen=True, slots=True)
class Flavour:
    """What a kind of OpenSearch can do.

    `engine` is the vector library. `conditional`: a write may depend on the sequence number that was read, and on the
    index being there. `refreshes`: searches may see a write at once. `tunable`: shards, copies and blocks are ours
    to set. `scripts`: vectors may be compared one by one.
    """

    engine: str
    conditional: bool = True
    refreshes: bool = True
    tunable: bool = True
    scripts: bool = True


DOMAIN = Flavour("lucene")  # a managed domain or a node of one's own: the engine that the tests run on
SERVERLESS = Flavour(
    "faiss", conditional=False, refreshes=False, tunable=False, scripts=False
)  # a collection of type SEARCH
FLAVOURS = {"none": DOMAIN, "es": DOMAIN, "aoss": SERVERLESS}


@dataclass(frozen=True, slots=True)
class Contents:
    """What an index holds. `fields` gives its mapping by flavour and dimension; of the source `unstored` is left out.

    `settings` are those of the index where they are ours to set. `separator` stands between the parts of its name.
    `vectors` is how it has its vectors. `version` counts the changes of all this, and of the terms that are written,
    for which an index must be made again.
    """

    fields: Callable[[Flavour, int], dict[str, Any]]
    unstored: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    separator: str = "-"
    vectors: VectorLayout = "float"
    version: int = 1


@dataclass(frozen=True, slots=True)
class Layout:
    """`k1` and `b` are BM25's; `replicas` are copies beside the first, None for one where there is a second node.

    `generation` tells two indices of one model apart.
    """

    flavour: Flavour
    k1: float
    b: float
    shards: int = 1
    replicas: int | None = None
    generation: int = 1
    contents: Contents = field(default_factory=lambda: PAPERS["float"])

    def index_name(self, corpus: str, fingerprint: str, dim: int) -> str:
        """Return the name of the index of `corpus` for the vectors of this model."""
        model = sha256(f"{fingerprint}/{dim}".encode()).hexdigest()[:12]
        return self.contents.separator.join((corpus, model, str(self.generation)))

    def own_alias(self, index: str) -> str:
        """Return the alias of this index alone. A write by it fails if the index is gone; by name it creates one."""
        return f"{index}{self.contents.separator}own"

    def described(self, shards: int, vectors: VectorLayout, version: int) -> str:
        """Say in words what was chosen for an index with these: equal words, equal choices."""
        several = [f"{shards} shard{'s' * (shards != 1)}"] if self.flavour.tunable else []
        return ", ".join([*several, vectors, f"mapping {version}"])

    @property
    def wanted(self) -> str:
        """What is chosen for a new index, in words."""
        return self.described(self.shards, self.contents.vectors, self.contents.version)

    def body(self, fingerprint: str, dim: int, similarity: str) -> dict[str, Any]:
        """Return the settings and mapping of an index; `similarity` is one of `SIMILARITIES`."""
        return {
            "settings": {"index": self._settings(similarity)},
            "mappings": {
                "dynamic": "strict",
                "_meta": {
                    "fingerprint": fingerprint,
                    "dim": dim,
                    "vectors": self.contents.vectors,
                    "version": self.contents.version,
                },
                "_source": {"excludes": list(self.contents.unstored)},
                "properties": self.contents.fields(self.flavour, dim),
            },
        }

    def _settings(self, similarity: str) -> dict[str, Any]:
        ranking = {"knn": True, "similarity": {"terms": {"type": similarity, "k1": self.k1, "b": self.b}}}
        if not self.flavour.tunable:
            return ranking
        copies = {"auto_expand_replicas": "0-1"} if self.replicas is None else {"number_of_replicas": self.replicas}
        return ranking | {"number_of_shards": self.shards, **copies, **self.contents.settings}


def _papers(vectors: VectorLayout, flavour: Flavour, dim: int) -> dict[str, Any]:
    small = {"type": "byte", "index": False}
    return {
        "pmid": {"type": "long"},
        "version": {"type": "long", "index": False},
        "title": {"type": "keyword", "index": False, "doc_values": False},
        "terms": TERMS,
        "year": {"type": "integer"},
        "journals": KEYWORD,
        "publication_types": KEYWORD,
        "tags": KEYWORD,
        "projects": KEYWORD,
        "design": small,
        "journal_rank": small,
        "human": small,
        "retraction": KEYWORD,
        "passages": {"type": "integer", "index": False},
        "layout": {"type": "keyword", "index": False},
        "unindexed": {"type": "object", "enabled": False},
        **mapping(vectors, flavour.engine, dim),
    }


def _contents(vectors: VectorLayout) -> Contents:
    settings = {"codec": "best_compression", "refresh_interval": "30s"}
    return Contents(
        partial(_papers, vectors),
        unstored=("terms", "windows", "vector"),
        settings=settings if vectors == "float" else settings | NO_GRAPHS,
        vectors=vectors,
        version=2,  # 1 had doc values of float vectors
    )


PAPERS: dict[str, Contents] = {each: _contents(each) for each in VECTOR_LAYOUTS}

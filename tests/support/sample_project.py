"""A small project: passages of two papers of the sample, one of them retracted, and notes that a client stored."""

from typing import Any

from bio_mcp.ingesting.projects import Options, create_project
from bio_mcp.retrieval.project_chunks import ProjectChunk, Work

PROJECT = "lab"
NEWBORNS = Work(
    doc_id="pmid:17727691",
    title="Perfusion index and critical left heart obstruction",
    citekey="granelli2007",
    doi="10.1111/j.1651-2227.2007.00439.x",
    pmid="17727691",
    year=2007,
    authors=("de-Wahl Granelli A", "Ostman-Smith I"),
    tags=("newborn", "screening"),
    source="granelli2007.pdf",
)
RETRACTED = Work(  # known by its DOI alone; the corpus has its PMID
    "doi:10.3892/ol.2016.4904",
    title="miR-429 in lung cancer",
    citekey="xu2016",
    doi="10.3892/ol.2016.4904",
    year=2016,
    tags=("cancer",),
)
TEXTS = {
    "Methods": "The perfusion index of ten thousand healthy newborns was measured by pulse oximetry at the foot.",
    "Results": "A perfusion index below 0.70 was found in five of nine newborns with a critical heart obstruction.",
}


def passages() -> list[ProjectChunk]:
    chunks = [
        ProjectChunk(
            f"{NEWBORNS.citekey}-{position}",
            NEWBORNS,
            text,
            position,
            section=heading,
            section_path=("Article", heading),
            page_span=(position + 1, position + 2),
        )
        for position, (heading, text) in enumerate(TEXTS.items())
    ]
    retracted = ProjectChunk("xu2016-0", RETRACTED, "miR-429 promotes the proliferation of lung cancer cells.")
    return [*chunks, retracted]


def add_project(backends: Any, project_id: str = PROJECT, **options: Any) -> Any:
    """Make the project in these backends and put the passages into it; returns it."""
    project = create_project(project_id, Options(**options), backends).project
    put(backends, project.collection, passages())
    return project


def put(backends: Any, collection: str, chunks: list[ProjectChunk]) -> None:
    vectors = backends.embeddings.embed([each.embedded_text for each in chunks])
    by_id = {each.chunk_id: vector for each, vector in zip(chunks, vectors, strict=True)}
    backends.collections.upsert(collection, chunks, by_id)

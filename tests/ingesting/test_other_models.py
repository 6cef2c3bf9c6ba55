"""A project goes on by its own model after the papers were changed to another."""

import pytest

from bio_mcp.answering.project_search import ProjectQuestion, search_projects
from bio_mcp.call import call
from bio_mcp.errors import ModelMismatch
from bio_mcp.ports.models import Role
from bio_mcp.syncing.applying import apply_records
from bio_mcp.syncing.reindexing import switch
from bio_mcp.tools.ingest import ingest_from_source
from tests.doors.command_line import sample
from tests.ingesting.library import PROJECT, opened
from tests.support.corpus import HashedWords
from tests.support.reembedding import ready


@pytest.fixture
def library(tmp_path):
    with opened(tmp_path) as library:
        library.other_models = [HashedWords("-2")]
        apply_records([next(iter(sample()))], library)
        library.write("a.md", "Hearts beat in the chest.")
        ingest(library)
        ready(library)
        switch(Role.NEXT, library)
        yield library


def ingest(library, **options):
    arguments = {"project": PROJECT, "source": str(library.files), **({"options": options} if options else {})}
    return call(ingest_from_source, arguments, library, local=True).body


def found(library, text="Hearts beat in the chest."):
    hits = search_projects(ProjectQuestion(text, (PROJECT,), hybrid=False), library).hits
    return [(hit.text, round(hit.score, 2)) for hit in hits]


def test_it_is_searched_and_ingested_into_by_the_model_of_its_vectors(library):
    assert library.embeddings.fingerprint == "hashed-words-2"
    [(text, score)] = found(library)
    assert text == "Hearts beat in the chest."
    assert score > 0.5
    library.write("b.md", "Lungs breathe air.")
    assert ingest(library)["dense_model"] == "hashed-words"
    assert found(library, "Lungs breathe air.")[0] == ("Lungs breathe air.", found(library, "Lungs breathe air.")[0][1])
    assert found(library, "Lungs breathe air.")[0][1] > 0.5
    assert library.collections.model(library.projects.get(PROJECT).collection)[0] == "hashed-words"


def test_it_is_embedded_by_the_model_of_the_papers_where_that_is_asked_for(library):
    assert ingest(library, force_rebuild=True)["dense_model"] == "hashed-words-2"
    assert found(library)[0][1] > 0.5
    assert library.projects.get(PROJECT).embed_model == "hashed-words-2"


def test_where_its_model_is_not_installed_it_is_refused(library):
    library.model = library.other_models[0]
    library.other_models = []
    with pytest.raises(ModelMismatch, match="holds vectors of hashed-words,"):
        found(library)
    assert ingest(library)["error"]["code"]

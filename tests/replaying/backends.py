"""A corpus whose papers have versions, and whose calls are recorded."""

import weakref

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.literature.records import Document
from bio_mcp.recording import CallRecorder
from tests.support.memory_corpus import Corpus, article
from tests.support.reference_calls import ReferenceCalls
from tests.syncing.stored import gone

GINGER = (
    article("1", "Ginger against nausea.", "Ginger reduced nausea in women."),
    article("2", "Ginger in trials.", "Ginger did not reduce vomiting."),
    article("3", "Statins.", "Statins lower cholesterol."),
    article("4", "Statins and ginger.", "Ginger does not change what statins do."),
)


class RecordedCorpus(Corpus):
    """`Backends` over papers in a file below `directory`; each call is recorded at once."""

    language_model = None
    projects = ()

    def __init__(self, directory, *articles):
        self.calls = ReferenceCalls()
        self.recorder = CallRecorder(lambda: self.calls, background=False)
        super().__init__()
        self.database = Database(directory)
        weakref.finalize(self, self.database.close)
        self.documents = SqliteDocuments(self.database)
        for each in articles:
            self.store(each, 1)

    def store(self, paper, version):
        """Store and index this version of the paper."""
        document = Document(paper, f"hash{version}", version)
        by_pmid = self.documents
        self.documents = _Ignored()
        self.add(document)
        self.documents = by_pmid
        self.documents.put([document])
        self.documents.mark_indexed({paper.pmid: version})

    def remove(self, pmid):
        """Delete the paper as PubMed's withdrawal does."""
        self.passages.delete([pmid])
        self.documents.delete(gone(pmid))


class _Ignored:
    """What the base class writes its documents to."""

    def __init__(self):
        self.by_pmid = {}

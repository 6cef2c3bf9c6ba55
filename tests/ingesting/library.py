"""A project over a whole embedded corpus, with a parser that reads plain text."""

import re
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

from bio_mcp.deadline import NEVER, silent
from bio_mcp.errors import UnreadableDocument
from bio_mcp.ingesting.sources import Options, ingest
from bio_mcp.jobs.runner import RunContext
from bio_mcp.literature.documents import ParsedDocument, ParsedSection
from bio_mcp.ports.projects import Project
from bio_mcp.querying.looking_up import lookup_of
from bio_mcp.retrieval.project_chunks import ChunkQuery, collection_name
from tests.support.corpus import Corpus

PROJECT = "lab/heart-failure"
SAID = "title|doi|pmid|journal|year|authors"


class PlainParser:
    """Reads UTF-8: a section for each line that begins with `# `, and what `title:`, `doi:`, `pmid:`, `journal:`,
    `year:` and `authors:` (parted by ;) say.

    `read` has the names of the files, `languages` those of the last one.
    """

    def __init__(self, version="plain 1"):
        self.version, self.read, self.languages = version, [], None

    def parse(self, content, name, languages=()):
        self.read.append(name)
        self.languages = list(languages)
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise UnreadableDocument("it is damaged: it is no text") from None
        said = dict(re.findall(rf"^({SAID}): (.*)$", text, re.MULTILINE))
        authors, year = tuple(said.pop("authors", "").split("; ")), said.pop("year", None)
        body = re.sub(rf"^({SAID}): .*\n?", "", text, flags=re.MULTILINE)
        heading, *sections = re.split(r"^# (.*)\n", body, flags=re.MULTILINE)
        pairs = [(None, heading), *zip(sections[::2], sections[1::2], strict=True)]
        parsed = tuple(
            ParsedSection(text.strip(), head, (head,) if head else ()) for head, text in pairs if text.strip()
        )
        people = tuple(filter(None, authors))
        return ParsedDocument(parsed, pages=1, authors=people, year=int(year) if year else None, **said)


class Library(Corpus):
    """An embedded corpus in `home` with one project; `files` is a folder that its user may read."""

    def __init__(self, home, parser=None, **settings):
        super().__init__(home / "home", **settings)
        self.plain, self.files = parser or PlainParser(), home / "files"
        self.files.mkdir(exist_ok=True)
        if not self.projects.all():
            self.add_project(PROJECT)

    @property
    def parser(self):
        return self.plain

    def add_project(self, project_id, **options):
        model = self.model.fingerprint
        self.projects.put(Project(project_id, collection_name(project_id), model, **options))
        self.collections.create(collection_name(project_id), model, self.model.dim)

    def write(self, name, text):
        path = self.files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def ingest(
        self,
        source=None,
        *,
        options=None,
        local=True,
        deadline=NEVER,
        progress=silent,
        unattended=False,
        job=None,
        over=None,
    ):
        arguments = {"project": PROJECT, "source": str(self.files if source is None else source)}
        context = RunContext(over or self, deadline, progress, unattended)
        asked = replace(options or Options(), lookup=lookup_of(PROJECT, context.backends, deadline))
        return ingest(arguments, asked, context, local=local, job_id=job)

    @property
    def documents_of_project(self):
        return self.project_documents.all(PROJECT)

    @property
    def chunks(self):
        found = [self.collections.document(collection_name(PROJECT), each.doc_id) for each in self.documents_of_project]
        chunks = [chunk for document in found for chunk in document]
        assert len(chunks) == self.collections.count(collection_name(PROJECT)), "there are chunks without a document"
        return chunks

    @property
    def texts(self):
        return sorted(each.text for each in self.chunks)

    def found(self, text):
        """The texts of the chunks that have this word, the best first."""
        matches = self.collections.search(collection_name(PROJECT), ChunkQuery(terms=((text, 1.0),)))
        return [each.chunk.text for each in sorted(matches, key=lambda each: -each.bm25)]


def digest(library):
    """Equal for equal chunks of equal documents."""
    return sha256(repr(sorted(map(repr, library.chunks))).encode()).hexdigest()


@contextmanager
def opened(home, **settings):
    with Library(home, **settings) as library:
        yield library

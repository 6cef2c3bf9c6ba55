"""An index in S3 as two processes have it: what one writes, the other reads. S3 is a dictionary here, or moto's."""

import time
from contextlib import ExitStack
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from bio_mcp.adapters.aws.s3_index import Published, PublishedDatabase, private_directory
from bio_mcp.adapters.aws.s3_indexes import IndexNames, PublishedIndexes
from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.passages import SqlitePassages
from tests.support.corpus import Corpus

LIMIT = 64 << 20
READS = {
    "check_model", "name", "chunk_texts", "chunk_vectors", "hybrid_search", "document_vectors", "chunks", "count",
    "by_year", "model", "hashes", "document", "search", "sample", "matching", "words_like", "other_names",
}  # fmt: skip
"""Methods of both ports that change nothing."""


class MemoryObjects:
    """What `IndexObjects` has, in memory; `broken` is raised by whatever is asked of it."""

    def __init__(self, name="corpus"):
        self.name = name
        self.objects, self.told, self.tag = {}, Published(), None
        self.broken = None
        self.asked = []

    def manifest(self, seen=None):
        self._asked("manifest")
        return None if seen is not None and seen == self.tag else (self.told, self.tag)

    def replace(self, published, seen):
        self._asked("replace")
        if seen != self.tag:
            return None
        self.told, self.tag = published, str(int(self.tag or 0) + 1)
        return self.tag

    def upload(self, path):
        self._asked("upload")
        key = sha256(content := path.read_bytes()).hexdigest()
        self.objects[key] = content
        return key

    def download(self, published, into):
        self._asked("download")
        path = into / f"{published.file}.sqlite3"
        path.write_bytes(self.objects[published.file])
        return path

    def clear(self, file):
        self._asked("clear")
        self.objects = {file: self.objects[file]}

    def _asked(self, what):
        self.asked.append(what)
        if self.broken:
            raise self.broken


class OpenLeases:
    """Leases that are free."""

    def acquire(self, _name, _holder, _seconds):
        return True

    def release(self, _name, _holder):
        """There is nothing to end."""


def database(directory, objects, leases=None, **options):
    """A process's copy of the index."""
    Path(directory).mkdir(parents=True, exist_ok=True)
    given = {"refresh_s": 0.0, "max_bytes": LIMIT, "papers_a_write": 32, **options}
    return PublishedDatabase(Path(directory), objects, lambda: leases or OpenLeases(), **given)


class WrittenAndRead:
    """A port that is written to by one process, and read by another."""

    def __init__(self, writer, reader):
        self._writer, self._reader = writer, reader

    def __getattr__(self, name):
        return getattr(self._reader if name in READS else self._writer, name)


class PublishedPorts:
    """The ports over an index in S3, each with a process that writes and one that reads."""

    gives = frozenset({"passages", "collections"})

    def __init__(self, directory, _clock, objects=MemoryObjects, leases=None):
        self._opened = ExitStack()
        self._directory, self._objects, self._leases = Path(directory), objects, leases

    @cached_property
    def passages(self):
        return self._pair("corpus", SqlitePassages)

    @cached_property
    def collections(self):
        return self._pair("projects", SqliteCollections)

    def _pair(self, name, of):
        objects = self._objects(name)
        made = [database(self._directory / name / who, objects, self._leases) for who in ("writer", "reader")]
        for each in made:
            self._opened.callback(each.close)
        return WrittenAndRead(*map(of, made))

    def close(self):
        self._opened.close()


class PublishedCorpus(Corpus):
    """A corpus whose indexes of papers are in moto's S3, as a process with a copy of its own has it."""

    def __init__(self, home, s3, *, refresh_s=0.0, clock=time.time):
        super().__init__(home)
        self._s3, self._refresh_s, self._clock = s3, refresh_s, clock
        self.copies = self.opened.enter_context(private_directory(home))

    @cached_property
    def indexes(self):
        names = IndexNames(self._s3, "bucket", refresh_s=self._refresh_s, clock=self._clock)
        made = PublishedIndexes(names, self._copied)
        self.opened.callback(made.close)
        return made

    def _copied(self, objects):
        directory = Path(mkdtemp(prefix=f"{objects.name}-", dir=self.copies))
        return database(directory, objects, self.leases, refresh_s=self._refresh_s, clock=self._clock)

"""A corpus that several processes write, and what must be so of it in the end."""

import atexit
import os
import re
import shutil
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from bio_mcp.adapters.embedded.collections import SqliteCollections
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.documents import SqliteDocuments
from bio_mcp.adapters.embedded.sync_state import (
    SqliteAudit,
    SqliteCheckpoints,
    SqliteContinuations,
    SqliteJobs,
    SqliteLeases,
    SqliteNews,
)
from bio_mcp.adapters.embedded.term_ids import Numbers
from bio_mcp.deadline import NEVER, Deadline, silent
from bio_mcp.errors import Conflict, Failure, NotFound
from bio_mcp.ingesting.files import stored_pdf_key
from bio_mcp.ingesting.projects import Options as ProjectOptions
from bio_mcp.ingesting.projects import create_project, delete_project
from bio_mcp.ingesting.sources import Options, ingest
from bio_mcp.jobs.runner import RunContext
from bio_mcp.ports.models import Role
from bio_mcp.ports.sources import SourceFile
from bio_mcp.retrieval.project_chunks import ChunkQuery, collection_name
from bio_mcp.settings import Settings
from bio_mcp.syncing.delta import sync_delta
from bio_mcp.syncing.importing import import_files
from bio_mcp.syncing.pubmed_files import listed
from bio_mcp.syncing.reindexing import begin, fill, reindex, switch
from bio_mcp.syncing.withdrawals import check_withdrawals
from bio_mcp.wiring.embedded import Embedded
from tests.ingesting.library import PROJECT, PlainParser
from tests.interleaving.papers import CONTROL, PubMed, Revision, counted, file_of, folded, history
from tests.interleaving.scheduler import YEARS, Clock, Killed, Schedule, Writer
from tests.support.aws_ports import MotoPorts
from tests.support.corpus import HashedWords, ModelsHere

TIMED = {
    "documents": SqliteDocuments,
    "news": SqliteNews,
    "jobs": SqliteJobs,
    "leases": SqliteLeases,
    "checkpoints": SqliteCheckpoints,
    "continuations": SqliteContinuations,
    "audit": SqliteAudit,
}


class Presence:
    """The mark of a process among those that run."""

    def __init__(self, mark, running):
        self.mark, self._running = mark, running

    def is_running(self, mark):
        return mark in self._running


def _timed(name, own):
    """A store by the clock of the test: the corpus file's, or what is shared in place of it."""
    return getattr(own.around.ports, name, None) or TIMED[name](own.database, own.around.clock.time)


class Process(Embedded):
    """An embedded corpus as one process has it, by the clock of the test."""

    TABLE: ClassVar = {
        **Embedded.TABLE,
        **{name: partial(_timed, name) for name in TIMED},
        "configured_embeddings": lambda own: own.model,
        "models": lambda own: ModelsHere(lambda: own.model, [own.around.model, own.around.other_model]),
        "entrez": lambda own: own.around.pubmed,
        "sources": lambda own: own.around.shelf,
        "parser": lambda own: own.around.plain,
        "bus": lambda own: own.around,
        "collections": lambda own: own.around.collections or Embedded.TABLE["collections"](own),
    }

    def __init__(self, around, mark=""):
        super().__init__(around.settings)
        self.around, self.model = around, around.model
        self.database.synchronous = "OFF"  # no test cuts the power
        self.database.presence = Presence(mark, around.running)
        if around.idle:
            self.database._idle.append(around.idle.pop())

    def close(self):
        """Leave its connections to whoever comes next: to open one, and to prepare its statements, takes longest."""
        for each in self.database._idle:
            each.numbers = Numbers()
        self.around.idle += self.database._idle
        self.database._idle.clear()
        super().close()

    def has_passed_on(self, hold):
        """Whether the lease has another holder than when this hold of it was given out, where every port can know."""
        if self.around.collections:
            return False
        row = self.database.row("SELECT number FROM leases WHERE name = ?", (hold.name,))
        return row is not None and row[0] != hold.number

    def now(self):
        return self.around.clock.now()

    def today(self):
        return self.around.clock.today()


class Around:
    """What processes share: the files, the clock, NLM, and who runs.

    `ports` are in place of some of the corpus file's.
    """

    ports = collections = None

    def __init__(self, home, random):
        self.home, self.random, self.clock = home, random, Clock()
        self.settings = Settings(home=home / "home", calls_days=0, cache="off")
        self.running, self.numbers, self.told, self.idle = {""}, 0, [], []
        self.model, self.other_model = HashedWords(), HashedWords("-2")
        shutil.copytree(template(), home / "home")
        self.keeps_marks = random.random() < 0.5  # those of dead processes, as of another container without locks

    def _to_its_end(self, command, corpus):
        """Ask again until it is complete: for its lease, which was perhaps taken while the clock was ahead; then on
        other days, since PubMed may have listed what it has no more."""
        for wait_s in (1_000, 1_000, *[90_000] * 9):
            with suppress(Conflict):
                if (report := command(corpus)).state == "complete":
                    return
                assert report.state in ("running", "incomplete"), report
            self.clock.pass_by(wait_s)
        raise AssertionError(f"it is never complete: {report}")

    def close(self):
        """Give back what it holds."""
        for each in self.idle:
            each.close()

    def publish(self, news):
        self.told += [(str(each.kind), each.pmid, each.version) for each in news]

    @contextmanager
    def opened(self, writer=None, _schedule=None):
        """Open the corpus as another process does."""
        self.numbers += 1
        mark = f"{self.numbers}" if writer else ""
        self.running.add(mark)
        process = Process(self, mark)
        try:
            yield process
        finally:
            process.close()
            if writer and not self.keeps_marks:
                self.running.discard(mark)


@cache
def template():
    """A directory with an empty corpus."""
    kept.enter_context(folder := TemporaryDirectory(dir=fast()))
    home = Path(folder.name) / "home"
    with closing(Embedded(Settings(home=home, calls_days=0, cache="off"))) as made:
        made.database.page_bytes = 4_096  # a quarter to copy, and to write at each commit
        made.documents.count()
    return home


kept = ExitStack()
atexit.register(kept.close)


def fast():
    """A directory in memory where there is one."""
    memory = Path("/dev/shm")  # noqa: S108  the directories in it are made as others are
    return memory if os.access(memory, os.W_OK) else None


class Papers(Around):
    """Papers whose histories NLM tells in three files, and PubMed as far as they go.

    Files and PubMed are as they are at first until `come`; then everything is told.
    """

    def __init__(self, home, random):
        super().__init__(home, random)
        self.histories = {str(pmid): history(random, str(pmid)) for pmid in range(1, random.choice([3, 4, 5, 6]))}
        self.withdrawn = {pmid for pmid, each in self.histories.items() if each == [each[0], [], []]}
        self.withdrawn = {pmid for pmid in self.withdrawn if random.random() < 0.5}
        self.at_first, self.published = random.choice([1, 2, 2, 3]), 0
        self.pubmed = PubMed(self.clock, self._pubmed(self.at_first))
        self.reports, self.is_told = [], False
        self._publish(self.at_first)

    @property
    def folder(self):
        return self.home / "in"

    def _records(self, upto):
        return {pmid: [record for file in files[:upto] for record in file] for pmid, files in self.histories.items()}

    def stands(self, upto=3):
        found = {pmid: folded(records) for pmid, records in self._records(upto).items()}
        return {pmid: each for pmid, each in found.items() if each is not None}

    def _pubmed(self, upto):
        there = self.stands(upto) | {CONTROL: Revision(CONTROL, 2000)}
        return {pmid: each for pmid, each in there.items() if upto < 3 or pmid not in self.withdrawn}

    def _publish(self, upto):
        self.folder.mkdir(parents=True, exist_ok=True)
        for number in range(self.published, upto):
            records = self.of_file(number)
            (self.folder / f"pubmed26n{number + 1:04}.xml.gz").write_bytes(file_of(records))
        self.published = upto

    def of_file(self, number):
        return [record for files in self.histories.values() for record in files[number]]

    def announce_everything(self):
        self.is_told = True
        self.pubmed.becomes(self._pubmed(3))
        self._publish(3)

    def files(self):
        return listed([self.folder])

    def importing(self, backends):
        files = self.files()
        found = import_files(files, backends)
        for file, report in zip(files, found, strict=True):
            records = self.of_file(int(file.path.name[9:13]) - 1)
            assert report.problem is None
            assert (report.read, report.inserted + report.updated + report.skipped) == counted(records), (
                file.path.name,
                report,
            )
        self.reports += found
        return [asdict(each) for each in found]

    def rereading(self, backends):
        """Import the first file once more, by its name."""
        return asdict(import_files(listed([self.files()[0].path]), backends)[0])

    def syncing(self, backends):
        report = sync_delta("k", "all[sb]", 0, backends, NEVER, silent)
        self.reports.append(report)
        return report

    def withdrawing(self, backends):
        first = check_withdrawals(backends, NEVER, silent, whole=True)
        assert first.state == "complete", first
        self.clock.pass_by(86_400)
        return check_withdrawals(backends, NEVER, silent, whole=True)

    def switching(self, backends):
        index = begin(self.other_model, backends, force=True)
        fill(index, backends)
        return switch(Role.NEXT, backends).name

    def going_back(self, backends):
        self.switching(backends)
        return switch(Role.PREVIOUS, backends).name

    def removing(self, backends):
        self.switching(backends)
        return backends.indexes.remove()

    def reindexing(self, backends):
        return reindex(backends)

    def check_consistency(self, corpus, told):
        """What is so whenever every writer has come to its end: each index has what is stored; returns the papers.

        But for those that a sync which was killed had in hand, and that PubMed has no more: nobody is told of these.
        """
        there = corpus.documents.get_many(list(corpus.documents.pmids()))
        documents = {pmid: each for pmid, each in there.items() if self.is_whole or pmid not in self._unannounced(told)}
        versions = {pmid: each.version for pmid, each in documents.items()}
        assert {pmid: each.indexed_version for pmid, each in documents.items()} == versions
        for index in corpus.indexes.all():
            held = {
                pmid: version for pmid, version in index.passages.versions() if pmid in versions or pmid not in there
            }
            assert held == versions, f"the {index.role} index: {sorted(held.items() ^ versions.items())}"
            for pmid, chunks in index.passages.chunks(list(versions)).items():
                title, [section] = documents[pmid].article.title, documents[pmid].article.abstract
                assert {each.text for each in chunks} <= {title, section.text, f"{title} {section.text}"}
                assert section.text in " ".join(each.text for each in chunks)
        if len(there) == len(documents):
            assert corpus.documents.count() == corpus.passages.count()[0] == len(documents)
        return documents

    def check(self, corpus, told):
        """Compare what the corpus has with what `told`, the names of commands, have told it."""
        documents, wanted = self.check_consistency(corpus, told), self.wanted(told)
        found = {pmid: each.article.title for pmid, each in documents.items() if pmid not in self._unannounced(told)}
        assert found == wanted, f"{sorted(found.items() ^ wanted.items())}, {sorted(found)} for {sorted(wanted)}"
        self._check_news(corpus, {pmid: each.version for pmid, each in documents.items()}, told)

    def _check_news(self, corpus, versions, told):
        announced = {(pmid, version) for kind, pmid, version in self.told if kind != "deleted"}
        assert set(versions.items()) <= announced, "a paper that nobody was told of"
        gone = {pmid for _, pmid, _ in self.told} - versions.keys() - self._unannounced(told)
        assert gone <= {pmid for kind, pmid, _ in self.told if kind == "deleted"}, "a deletion nobody was told of"
        if "sync" in told:
            assert set(corpus.news.pmids("k")) <= set(corpus.documents.pmids()), "news of a paper that is gone"

    def _unannounced(self, told):
        """Papers that PubMed had once, and of whose end these commands do not hear."""
        return set() if {"import", "withdrawals"} & told else self._pubmed(self.at_first).keys() - self.pubmed.there

    def wanted(self, told):
        """PMID -> title of what must be there."""
        there = self.stands() if "import" in told else {}
        if "sync" in told:
            there = self.pubmed.there | there
        if "withdrawals" in told:
            there = {pmid: each for pmid, each in there.items() if pmid in self.pubmed.there}
        return {pmid: each.title for pmid, each in there.items()}

    commands: ClassVar = {  # what is told by each, and how often it is drawn
        "importing": ("import", 7),
        "rereading": ("import", 1),
        "syncing": ("sync", 4),
        "withdrawing": ("withdrawals", 2),
        "switching": ("", 1),
        "going_back": ("", 1),
        "removing": ("", 1),
        "reindexing": ("", 1),
    }

    def drawn(self):
        """The names of two or three commands, one of which tells something."""
        names = [name for name, (_, often) in self.commands.items() for _ in range(often)]
        first = self.random.choice(["importing", "syncing"])
        return [first, *self.random.choices(names, k=self.random.choice([1, 1, 1, 2]))]

    def finish(self, corpus, told):
        """Tell everything once more, each command to its end, by a clock that is right."""
        deleted = {pmid for kind, pmid, _ in self.told if kind == "deleted"} & self.withdrawn
        if "import" in told:
            self.importing(corpus)
        if "sync" in told:
            last = corpus.jobs.latest("sync", "k", "all[sb]")
            if last and last.unfinished:  # it goes on with a plan of before
                self._to_its_end(self.syncing, corpus)
            self._to_its_end(self.syncing, corpus)
        assert not deleted & corpus.documents.heads(list(deleted)).keys(), "a withdrawn paper came back"
        if "withdrawals" in told:
            self._to_its_end(self.withdrawing, corpus)
        for index in corpus.indexes.all():
            if index.role is Role.NEXT:
                fill(index, corpus)


class OverDynamoDB(Papers):
    """The same with what the corpus knows in DynamoDB, and the passages in the corpus file."""

    def __init__(self, home, random):
        super().__init__(home, random)
        self.ports = MotoPorts()
        self.ports.clock = self.clock.time

    def close(self):
        super().close()
        self.ports.close()


class TextSources:
    """The port `Sources`: texts by name, of which "shelf" stands for all."""

    def __init__(self):
        self.texts = {}

    def locate(self, source, **_):
        return source

    def files(self, location, **_):
        return [SourceFile(each, each) for each in sorted(self.texts) if location in ("shelf", each)]

    def read(self, address, **_):
        return self.texts[address].encode()


class Patient(Deadline):
    """No end of the time, which passes by the clock of the test while somebody waits."""

    def __init__(self, clock):
        super().__init__()
        self._passing = clock

    def pause(self, _seconds):
        self._passing.pass_by(1)


class Documents(Around):
    """A project, and a folder of files of which some name the same paper; later some are other ones."""

    commands: ClassVar = {
        "ingesting": ("ingest", 4),
        "ingesting_one": ("ingest", 1),
        "rebuilding": ("ingest", 3),
        "creating": ("", 1),
        "deleting": ("", 1),
    }

    def __init__(self, home, random):
        super().__init__(home, random)
        self.plain, self.is_told, self.is_rebuilt = PlainParser(), False, False
        self.shelf, self.is_edited = TextSources(), random.random() < 0.3
        for name in "abcd"[: random.choice([2, 3, 4])]:
            self._write(name, 1)
        with self.opened() as corpus:
            create_project(PROJECT, ProjectOptions(), corpus)

    def _write(self, name, edition):
        paper = self.random.choice(["", "", "pmid: 7\n", f"doi: 10.1000/{name}\n"])
        text = f"title: {name}\n{paper}Text of {name}, edition {edition}.\n%PDF-1.7\n# Methods\nMore of {name}."
        self.shelf.texts[f"{name}.md"] = text

    def announce_everything(self):
        self.is_told = True
        if not self.is_edited:
            return
        names = sorted(self.shelf.texts)
        self._write(self.random.choice([*names, "e.md"]).removesuffix(".md"), 2)

    def drawn(self):
        names = [name for name, (_, often) in self.commands.items() for _ in range(often)]
        self.names = ["ingesting", *self.random.choices(names, k=self.random.choice([1, 1, 2]))]
        return self.names

    def _ingest(self, backends, source, *, rebuild=False):
        arguments = {"project": PROJECT, "source": source}
        return ingest(
            arguments, Options(rebuild=rebuild), RunContext(backends, Patient(self.clock), silent), local=True
        )

    def ingesting(self, backends):
        return self._ingest(backends, "shelf")

    def ingesting_one(self, backends):
        return self._ingest(backends, "a.md")

    def rebuilding(self, backends):
        """By the other model, which is configured from now on."""
        backends.over.model = self.other_model
        return self._ingest(backends, "shelf", rebuild=True)

    def creating(self, backends):
        return create_project(PROJECT, ProjectOptions(), backends).new

    def deleting(self, backends):
        delete_project(PROJECT, backends)
        return "deleted"

    def finish(self, corpus, _told):
        """Read everything once more; by the other model where it was to be embedded by that.

        A project that was deleted, perhaps half-way, is made again, of which nothing may have been left.
        """
        if "deleting" in self.names:
            with suppress(NotFound):
                if corpus.collections.model(corpus.projects.get(PROJECT).collection) is None:
                    delete_project(PROJECT, corpus)
            if create_project(PROJECT, ProjectOptions(), corpus).new:
                assert corpus.project_documents.all(PROJECT) == [], "documents of no project"
        if "rebuilding" in self.names:
            corpus.model = self.other_model
            self._to_its_end(lambda _: self._ingest(corpus, "shelf", rebuild=True), corpus)
        self._to_its_end(self.ingesting, corpus)
        report = self.ingesting(corpus)
        cursor = report.cursor
        assert (cursor.written, cursor.failed) == (0, 0), cursor
        assert cursor.unchanged == len(self.shelf.texts)

    @property
    def files(self):
        blobs = self.settings.home / "blobs"
        return {str(each.relative_to(blobs)) for each in blobs.rglob("*") if each.is_file()}

    def check_consistency(self, corpus, _told):
        """Each document has the chunks that its record says, each chunk is of a document, by the project's model."""
        if not corpus.projects.all():
            assert not self.files, "files of no project"
            assert (corpus.project_documents.all(PROJECT), corpus.collections.count(collection_name(PROJECT))) == (
                [],
                0,
            )
            return {}
        project = corpus.projects.get(PROJECT)
        documents = corpus.project_documents.all(PROJECT)
        chunks = {each.doc_id: corpus.collections.document(project.collection, each.doc_id) for each in documents}
        assert {each.doc_id: each.chunks for each in documents} == {each: len(found) for each, found in chunks.items()}
        assert corpus.collections.count(project.collection) == sum(map(len, chunks.values())), "chunks of no document"
        assert corpus.collections.model(project.collection)[0] == project.embed_model
        for each in documents:
            if self.collections is None:  # else a late writer's may be the same text, of a work of which he knew less
                assert {chunk.work for chunk in chunks[each.doc_id]} == {each.work}
            hashes = corpus.collections.hashes(project.collection, each.doc_id)
            assert hashes == {chunk.chunk_id: chunk.embedded_sha256 for chunk in chunks[each.doc_id]}
        model = corpus.models.of(project.embed_model)
        for each in (found[0] for found in chunks.values()):
            query = ChunkQuery(vector=model.embed([each.embedded_text])[0], model=model.fingerprint)
            assert max(found.sim for found in corpus.collections.search(project.collection, query)) > 0.99
        return chunks

    def check(self, corpus, told):
        """Each file's work is there once, with the text of one of its files as they are now, and that file is kept."""
        chunks = self.check_consistency(corpus, told)
        assert self.files == {stored_pdf_key(each) for each in corpus.project_documents.all(PROJECT)}
        texts = {" ".join(each.text for each in found) for found in chunks.values()}
        papers = {}
        for name, text in self.shelf.texts.items():
            named = re.findall(r"^(?:pmid|doi): .*$", text, re.MULTILINE)
            papers.setdefault(named[0] if named else name, []).append(text.partition("Text of")[2].split(".")[0])
        assert len(chunks) == len(papers), f"{sorted(papers)} {texts}"
        for editions in papers.values():
            assert any(edition in text for edition in editions for text in texts), f"{editions} {texts}"


class ChunksApart(Documents):
    """The same with the chunks in an engine that knows no leases, as OpenSearch: here in another corpus file."""

    def __init__(self, home, random):
        self.apart = Database(home / "apart")
        self.collections = SqliteCollections(self.apart)
        super().__init__(home, random)

    def close(self):
        super().close()
        self.apart.close()


def run(around, random):
    """Run commands as `random` draws them, and check what is left; returns the order of steps."""
    clock = around.clock

    def ahead():
        clock.ahead = YEARS

    def back():
        clock.ahead = -YEARS

    def right():
        clock.ahead = timedelta()

    events = [around.announce_everything, *random.choice([[], [], [ahead], [back], [ahead, right], [back, right]])]
    schedule = Schedule(random, clock, events)
    names = around.drawn()
    told = {around.commands[name][0] for name in names}
    try:
        schedule.run(
            [
                Writer(
                    f"{name} {number}",
                    around.opened,
                    getattr(around, name),
                    random.choice([lambda: True, lambda: around.is_told]) if number > 1 else lambda: True,
                )
                for number, name in enumerate(names, 1)
            ]
        )
        for _, _, event in schedule.due[::-1]:
            event()
        right()
        clock.pass_by(86_400)
        with around.opened() as corpus:
            around.is_whole = all(
                each.outcome is not Killed and not isinstance(each.outcome, Failure) for each in schedule.writers
            )
            if around.is_whole:
                around.check_consistency(corpus, told)
            around.finish(corpus, told)
            around.check(corpus, told)
    except BaseException as problem:
        problem.add_note("\n".join(schedule.order))
        raise
    return schedule

"""`bio-mcp import`: imports PubMed XML files into the corpus."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib import resources
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.session import Session
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.progress import Progress
from bio_mcp.syncing.importing import ImportReport, corpus_size, import_records
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import BIO_MCP

SAMPLE = "samples/pubmed.xml.gz"  # inside the package


class ImportFiles(Request):
    """The files to import, by their paths; `if_empty` skips them if the corpus has other papers."""

    files: list[str] = Field(min_length=1)
    if_empty: bool = False


class ImportedFile(Response):
    """What became of one file's records: counts, the first reasons for skipped ones, and what ended the file early."""

    file: str
    read: int
    inserted: int
    updated: int
    skipped: int
    deleted: int
    odd: int
    reasons: list[str]
    problem: str | None


class Imported(Response):
    """The reports of all files and the size of the corpus; `complete` if nothing was skipped or broken."""

    complete: bool
    files: list[ImportedFile]
    documents: int
    chunks: int


@tool("corpus.import", family=BIO_MCP, scope="admin", timeout=24 * 3600, read_only=False)
def import_files(request: ImportFiles, backends: Backends, context: Context) -> Imported:
    """Import PubMed XML files one after the other. After a broken file, the records read from it stay and the next file
    follows.

    A record that cannot be from PubMed is skipped and reported.
    """
    paths = [Path(name) for name in request.files]
    if request.if_empty and has_others_than(paths, backends):
        return _imported([], backends)
    advance = _Advance(context.progress, sum(path.stat().st_size for path in paths))
    reports = []
    for path in paths:
        reports.append(import_records(open_records(path, advance.read), backends, advance.settled))
        advance.next_file(path.stat().st_size, reports[-1].read)
    return _imported(list(zip(paths, reports, strict=True)), backends)


def has_others_than(paths: Iterable[Path], backends: Backends) -> bool:
    """Whether the corpus has a paper that is not in these files: a partial import of them does not count."""
    stored = backends.documents.count()
    if not stored:
        return False
    records = (record for path in paths for record in open_records(path))
    pmids = list({record.pmid for record in records if isinstance(record, Article)})
    return stored > len(backends.documents.heads(pmids))


class _Advance:
    """The progress of an import, in bytes of all files whose records are settled; the message is the number of
    records."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._total = progress, total
        self._files_bytes = self._files_records = self._bytes = self._records = 0

    def read(self, position: int) -> None:
        """Count one more record read; the file is at `position`."""
        self._bytes, self._records = position, self._records + 1

    def settled(self, records: int, _total: int | None, _note: str) -> None:
        """Report `records` settled records of this file as their share of the bytes read."""
        share = self._bytes * records // max(self._records, 1)
        self._progress(self._files_bytes + share, self._total, str(self._files_records + records))

    def next_file(self, size: int, records: int) -> None:
        """Continue with the next file."""
        self._files_bytes += size
        self._files_records += records
        self._bytes = self._records = 0


def _imported(reports: list[tuple[Path, ImportReport]], backends: Backends) -> Imported:
    size = corpus_size(backends)
    return Imported(
        complete=not any(report.problem or report.odd for _, report in reports),
        files=[ImportedFile(file=path.name, **asdict(report)) for path, report in reports],
        documents=size.documents,
        chunks=size.chunks,
    )


@click.command("import")
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, readable=True))
@click.option("--sample", is_flag=True, help="Import the bundled sample of PubMed records.")
@click.option("--if-empty", is_flag=True, help="Do nothing if the corpus already has other papers.")
@answering
def import_command(session: Session, files: tuple[str, ...], sample: bool, if_empty: bool) -> None:
    """Import PubMed XML: baseline and update files or EFetch answers, plain, .gz or .xz.

    Deletions are applied. It may be stopped at any time: run it again, and records that are already stored are skipped.
    """
    if bool(files) == sample:
        raise click.UsageError("Give the files to import, or --sample.")
    with as_file(sample_file()) as bundled, terminal.progress("importing") as update:
        given = {"files": [str(bundled)] if sample else list(files), "if_empty": if_empty}
        body = session.ask(import_files, given, progress=_with_rate(update))
    session.answer(body, render)
    session.code = 0 if body["complete"] else 1


def sample_file() -> Traversable:
    """The bundled sample file."""
    return resources.files("bio_mcp").joinpath(SAMPLE)


def _with_rate(update: Progress) -> Progress:
    rate = terminal.Rate()

    def progress(done: int, total: int | None, records: str) -> None:
        update(done, total, f"{int(records):,} records, {rate(int(records)):,.0f}/s")

    return progress


def render(body: Mapping[str, Any]) -> None:
    """Print a row per file, then the size of the corpus."""
    columns = ("file", "read", "new", "changed", "same", "deleted")
    counts = ("read", "inserted", "updated", "skipped", "deleted")
    rows = [(each["file"], *(f"{each[name]:,}" for name in counts)) for each in body["files"]]
    if rows:
        terminal.show(terminal.table(columns, rows, right=range(1, len(columns))))
    for each in body["files"]:
        for reason in each["reasons"]:
            terminal.fail(f"{each['file']}: {reason} It was skipped.")
        if each["odd"] > len(each["reasons"]):
            terminal.fail(f"{each['file']}: {each['odd'] - len(each['reasons']):,} more records were skipped.")
        if each["problem"]:
            terminal.fail(f"{each['file']}: {each['problem']} What was read before it is in the corpus.")
    papers, passages = terminal.counted(body["documents"], "paper"), terminal.counted(body["chunks"], "passage")
    holds = f"corpus holds {papers}, {passages}."
    terminal.say(f"The {holds}" if rows else f"Nothing was imported: the {holds}")

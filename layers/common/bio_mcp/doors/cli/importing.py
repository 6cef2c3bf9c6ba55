"""`bio-mcp import`: imports PubMed XML files into the corpus."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
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
from bio_mcp.syncing.finished_files import is_finished
from bio_mcp.syncing.importing import ImportReport, corpus_size, import_files
from bio_mcp.syncing.listed_files import ListedFile, listed
from bio_mcp.syncing.mirroring import mirror
from bio_mcp.tool import Context, Request, Response, tool
from bio_mcp.tools.families import BIO_MCP

SAMPLE = "samples/pubmed.xml.gz"  # inside the package
THERE = click.Path(exists=True)


class ImportFiles(Request):
    """The files and folders to import, by their paths; `if_empty` skips them if the corpus has other papers.

    `workers` processes embed; without them this process does. `fetch`: what NCBI publishes and the folder lacks is
    fetched into it first.
    """

    files: list[str] = Field(min_length=1)
    if_empty: bool = False
    workers: int = Field(default=0, ge=0)
    fetch: bool = False


class ImportedFile(Response):
    """What became of one file's records: counts, the first reasons for skipped ones, and what ended the file early.

    A file that was `finished_before` was not read; the counts are of the import that finished it.
    """

    file: str
    read: int
    inserted: int
    updated: int
    skipped: int
    deleted: int
    odd: int
    reasons: list[str]
    problem: str | None
    finished_before: bool


class Imported(Response):
    """The reports of all files and the size of the corpus; `complete` if nothing was skipped or broken in those that
    were read.

    `died` counts worker processes that ended early and were replaced.
    """

    complete: bool
    files: list[ImportedFile]
    documents: int
    chunks: int
    died: int


@tool("corpus.import", family=BIO_MCP, scope="admin", timeout=24 * 3600, read_only=False)
def import_corpus(request: ImportFiles, backends: Backends, context: Context) -> Imported:
    """Import PubMed XML files one after the other. After a broken file, the records read from it stay and the next file
    follows.

    A record that cannot be from PubMed is skipped and reported.
    """
    if request.fetch:
        is_imported = partial(is_finished, backends=backends)
        mirror(backends.pubmed_files, Path(request.files[0]), is_imported, context.progress)
    files = listed(Path(name) for name in request.files)
    if request.if_empty and has_others_than([file.path for file in files], backends):
        return _imported([], [], backends)
    if not request.workers:
        return _imported(files, import_files(files, backends, context.progress), backends)
    with backends.workers(request.workers) as workers:
        reports = import_files(files, backends, context.progress, workers)
        return _imported(files, reports, backends, workers.died)


def has_others_than(paths: Iterable[Path], backends: Backends) -> bool:
    """Whether the corpus has a paper that is not in these files: a partial import of them does not count."""
    stored = backends.documents.count()
    if not stored:
        return False
    records = (record for path in paths for record in open_records(path))
    pmids = list({record.pmid for record in records if isinstance(record, Article)})
    return stored > len(backends.documents.heads(pmids))


def _imported(
    files: Sequence[ListedFile], reports: Sequence[ImportReport], backends: Backends, died: int = 0
) -> Imported:
    size = corpus_size(backends)
    return Imported(
        complete=not any((each.problem or each.odd) and not each.finished_before for each in reports),
        files=[
            ImportedFile(file=file.path.name, **asdict(report)) for file, report in zip(files, reports, strict=False)
        ],
        documents=size.documents,
        chunks=size.chunks,
        died=died,
    )


@click.command("import")
@click.argument("files", nargs=-1, type=click.Path())
@click.option("--workers", type=click.IntRange(min=1), help="Embed by so many processes; one per core is fastest.")
@click.option("--fetch", is_flag=True, help="First fetch what NCBI publishes into the folder: 45 GB.")
@click.option("--sample", is_flag=True, help="Import the bundled sample of PubMed records.")
@click.option("--if-empty", is_flag=True, help="Do nothing if the corpus already has other papers.")
@answering
def import_command(
    session: Session, files: tuple[str, ...], workers: int | None, fetch: bool, sample: bool, if_empty: bool
) -> None:
    """Import PubMed XML: baseline and update files or EFetch answers, plain, .gz or .xz, or folders of them.

    Files of NLM are read in the order of their numbers, and one beside which there is an .md5 is compared with it.
    Deletions are applied. It may be stopped at any time: run it again, and records that are already stored are skipped,
    as are the files of a folder that were finished.
    """
    if fetch and (len(files) != 1 or Path(files[0]).is_file()):
        raise click.UsageError("--fetch takes one folder.")
    for each in () if fetch else files:
        THERE.convert(each, None, click.get_current_context())
    if bool(files) == sample:
        raise click.UsageError("Give the files to import, or --sample.")
    with as_file(sample_file()) as bundled, terminal.progress("importing") as update:
        given = {"files": [str(bundled)] if sample else list(files), "if_empty": if_empty, "fetch": fetch}
        given |= {"workers": workers} if workers else {}
        body = session.ask(import_corpus, given, progress=_with_rate(update))
    session.answer(body, render)
    session.code = 0 if body["complete"] else 1


def sample_file() -> Traversable:
    """The bundled sample file."""
    return resources.files("bio_mcp").joinpath(SAMPLE)


def _with_rate(update: Progress) -> Progress:
    rate = terminal.Rate()

    def progress(done: int, total: int | None, note: str) -> None:
        if note.isdecimal():
            note = f"{int(note):,} records, {rate(int(note)):,.0f}/s"
        update(done, total, note)

    return progress


def render(body: Mapping[str, Any]) -> None:
    """Print a row per file, then the size of the corpus."""
    columns = ("file", "read", "new", "changed", "same", "deleted")
    counts = ("read", "inserted", "updated", "skipped", "deleted")
    read = [each for each in body["files"] if not each["finished_before"]]
    rows = [(each["file"], *(f"{each[name]:,}" for name in counts)) for each in read]
    if rows:
        terminal.show(terminal.table(columns, rows, right=range(1, len(columns))))
    for each in body["files"]:
        report = terminal.warn if each["finished_before"] else terminal.fail
        for reason in each["reasons"]:
            report(f"{each['file']}: {reason} It was skipped.")
        if each["odd"] > len(each["reasons"]):
            report(f"{each['file']}: {each['odd'] - len(each['reasons']):,} more records were skipped.")
        if each["problem"]:
            terminal.fail(f"{each['file']}: {each['problem']} What was read before it is in the corpus.")
    if before := len(body["files"]) - len(read):
        terminal.say(
            f"{terminal.counted(before, 'file')} had been imported before and not been changed since: not read again."
        )
    if body["died"]:
        died = terminal.counted(body["died"], "worker process")
        terminal.warn(f"{died} ended early; the papers were embedded again by others. Is memory short?")
    papers, passages = terminal.counted(body["documents"], "paper"), terminal.counted(body["chunks"], "passage")
    holds = f"corpus holds {papers}, {passages}."
    terminal.say(f"The {holds}" if rows else f"Nothing was imported: the {holds}")

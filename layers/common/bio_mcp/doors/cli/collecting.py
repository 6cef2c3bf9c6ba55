"""What brings papers into the corpus and keeps them right: `import`, `sync`, and under `admin` the followed queries,
their watermarks, retractions, withdrawals and the loads of a stack on AWS."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from importlib import resources
from importlib.resources import as_file
from pathlib import Path
from typing import Any

import click

from bio_mcp.deadline import Progress
from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering, arguments_of, options_of, words
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Failed, Session
from bio_mcp.errors import NotFound
from bio_mcp.ingesting.notices import note_notices
from bio_mcp.literature.medline import open_records
from bio_mcp.literature.notices import notices_by_doi
from bio_mcp.literature.records import Article
from bio_mcp.ports import Backends
from bio_mcp.syncing import withdrawals
from bio_mcp.syncing.bulk_load import STAGES, status_of
from bio_mcp.syncing.importing import corpus_size, import_files
from bio_mcp.syncing.news import unfollowed
from bio_mcp.syncing.pubmed_files import finished_mark, listed, mirror
from bio_mcp.syncing.queries import RETRACTIONS_KEY, RETRACTIONS_TERM, remove
from bio_mcp.syncing.queries import stop as cancel_syncs
from bio_mcp.tool import Context
from bio_mcp.tools.checkpoint import get_checkpoint, list_queries, set_checkpoint
from bio_mcp.tools.scholarly import check_notices, noted_answer
from bio_mcp.tools.sync_delta import sync_delta

SAMPLE = "samples/pubmed.xml.gz"  # inside the package
SYNC_HELPS = {
    "overlap_days": "days before the watermark that are asked for again; PubMed adds some records late",
    "max_records": "confirms a new sync of so many records, which is refused beyond BIO_MCP_SYNC_MAX_RECORDS",
}
COUNTS = {"read": "read", "inserted": "new", "updated": "changed", "skipped": "same", "deleted": "deleted"}
SHOWN_FAILURES = 50
LAST = {"state": "last sync", "updated_at": "at", "processed": "records", "expected": "of"}
QUERIES = View(
    hidden=frozenset({"left_out"}),
    tables={"queries": ("query_key", "term", "settled_to", *(f"last_sync.{each}" for each in LAST))},
    labels={"query_key": "query", "papers": "papers in the corpus", "settled_to": "complete to"}
    | {f"last_sync.{name}": word for name, word in LAST.items()},
    empty="No query is followed. `bio-mcp sync QUERY_KEY TERM` begins one.",
)
NOTICES = View(
    titles=("project",),
    labels={
        "checked": "documents without a PMID",
        "unknown": "not at Crossref",
        "works": "with a notice",
        "retraction": "is",
        "assertedBy": "by",
    },
    empty="There is no project.",
)
STAGE_WORDS = {"fetch": "to fetch from NCBI", "list": "to list", "load": "to load"}


@click.command("sync")
@click.argument("query_key")
@words("term", unless="stop")
@click.option("--stop", is_flag=True, is_eager=True, help="Cancel the running or queued sync of QUERY_KEY instead.")
@click.option(
    "--yes", "confirm", is_flag=True, help="Another term for QUERY_KEY, or a word that PubMed lacks, is meant."
)
@options_of(sync_delta, without=("query_key", "term", "job_id", "confirm"), helps=SYNC_HELPS)
@answering
def sync_command(session: Session, /, stop: bool, **given: Any) -> None:
    """Bring the corpus up to date with every PubMed record that matches TERM.

    QUERY_KEY names the query: the next sync of the same key asks only for records added or revised since. It may be
    stopped at any time and continues where it stopped; after --stop it starts again from the watermark. What may be a
    typing error is asked about first.
    """
    if not stop:
        _sync(session, **arguments_of(sync_delta, given))
        return
    query_key = given["query_key"]
    jobs = [job.job_id for job in cancel_syncs(query_key, session.backends)]
    stopped = f"{', '.join(jobs)} is cancelled; if it runs, it ends within a minute."
    session.answer({"query_key": query_key, "cancelled": jobs}, stopped if jobs else f"No sync of {query_key} to stop.")


def _sync(session: Session, **arguments: Any) -> None:
    try:
        body = session.ask_to_the_end(sync_delta, arguments, "syncing", "records", of=True)
    except KeyboardInterrupt:
        terminal.warn("stopped; what was fetched is in the corpus. Run the same command again to continue.")
        raise
    except Failed as failed:
        details = failed.body["error"]["details"]
        if "confirm" not in details or not session.agrees(f"{details['why']}. Go on all the same?"):
            raise
        _sync(session, **{**arguments, **details["confirm"]})
        return
    session.code = 0 if body["state"] == "complete" else 1
    session.answer(body, sync_summary(arguments["query_key"], body))


SYNC_STATES = {
    "complete": "{} is complete",
    "incomplete": "{} is not complete: {of}. The watermark stays where it was; run the same command again",
    "running": "Another process syncs {}; nothing was started",
    "cancelled": "The sync of {} is cancelled; what was stored stays",
}
SYNC_COUNTS = {"inserted": "new", "updated": "changed", "skipped": "unchanged", "failed": "failed"}
CHECKS = {RETRACTIONS_KEY: "The check for retractions", withdrawals.QUERY_KEY: "The check for withdrawn papers"}


def sync_summary(query_key: str, body: Mapping[str, Any]) -> str:
    """How a sync ended, what it brought and what to do next, in sentences."""
    processed, check = body["pmids_processed"], query_key in CHECKS
    if body["state"] == "complete" and not processed:
        return f"{CHECKS.get(query_key, query_key)} is complete: nothing new."
    of = f"{processed:,} of {body['expected']:,}"
    said = SYNC_STATES[body["state"]].format(CHECKS.get(query_key, query_key), of=of)
    counts = {
        word: body[name] for name, word in SYNC_COUNTS.items() if body[name] and not (check and name == "skipped")
    }
    checked = terminal.counted(processed, "paper") + " checked" if check else terminal.counted(processed, "record")
    sentences = [f"{said}; {', '.join((checked, *(f'{count:,} {word}' for word, count in counts.items())))}."]
    if body["max_edat_seen"] and not check:
        sentences.append(f"The newest came to PubMed on {body['max_edat_seen'][:10]}.")
    if body["inserted"] and not check:
        sentences.append(f"`bio-mcp news {query_key}` lists what is new.")
    return " ".join(sentences)


@click.command("retractions")
@click.option("--projects", is_flag=True, help="Ask Crossref instead, about documents of projects without a PMID.")
@click.option(
    "--retraction-watch",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Ask nobody: take notices about such documents from Retraction Watch's CSV.",
)
@answering
def retractions_command(session: Session, /, projects: bool, file: Path | None) -> None:
    """Flag papers that have since been retracted or have an expression of concern, wherever they came from.

    A sync notices this only for papers that its term still finds. This asks PubMed for every paper that was retracted
    or has an expression of concern, and updates those in the corpus. It adds none. Once a day is plenty.
    """
    ids = [each.project_id for each in session.own.projects.all()] if projects or file else []

    def noted(backends: Backends, _context: object) -> dict[str, Any]:
        with Path(str(file)).open(encoding="utf-8", errors="replace", newline="") as lines:
            by_doi = notices_by_doi(lines)
        answers = [noted_answer(each, note_notices(each, lambda _: by_doi, backends)) for each in ids]
        return {"projects": [each.model_dump(exclude_unset=True) for each in answers]}

    if file:  # what it does not name stays
        found = session.do("retractionWatch.import", noted)
        session.answer(found, replace(NOTICES, hidden=frozenset({"unknown"})))
    elif projects:
        found = {"projects": [session.ask(check_notices, {"project": each}) for each in ids]}
        session.answer(found, NOTICES)
    else:
        _sync(session, query_key=RETRACTIONS_KEY, term=RETRACTIONS_TERM, known_only=True)


@click.command("withdrawals")
@answering
def withdrawals_command(session: Session, /) -> None:
    """Delete papers that PubMed has withdrawn, wherever they came from, once two checks on different days agree.

    No search reports withdrawals, so this asks PubMed for every paper in the corpus, 199 at a time. Once a week, on two
    days, is plenty.
    """
    _sync(session, query_key=withdrawals.QUERY_KEY, term=withdrawals.TERM)


queries_command = click.Group("queries", help="List the followed queries; remove one.")


@queries_command.command("list")
@click.argument("query_key", required=False)
@answering
def list_command(session: Session, query_key: str | None) -> None:
    """List every query, or QUERY_KEY alone: term, how far it is synced, and how its last sync went."""
    body = session.ask_all(list_queries, {"query_key": query_key} if query_key else {}, "queries")
    session.answer(body, _queries_view)


def _queries_view(body: Mapping[str, Any]) -> View:
    for each in body["queries"]:
        each["term"] = each.get("about") or each["term"]
        last = each["last_sync"] or {}
        for warning in filter(None, (*last.get("warnings", ()), last.get("error"))):
            terminal.warn(f"{each['query_key']}: {warning}")
    return QUERIES


@queries_command.command("remove")
@click.argument("query_key")
@click.option("--yes", is_flag=True, help="Remove it; without this, only print what would be removed.")
@answering
def remove_command(session: Session, query_key: str, yes: bool) -> None:
    """Remove QUERY_KEY: its watermarks and its syncs.

    The papers stay, as other queries may have added them too. The next sync of the key reads everything again.
    """
    checkpoints = remove(query_key, session.backends) if yes else session.backends.checkpoints.all(query_key)
    terms = [each.term for each in checkpoints]
    named = f"{query_key} ({'; '.join(term or 'no term' for term in terms)})"
    would = f"{named} would be removed, and its papers would stay. Give --yes to do it."
    sentence = f"{named} is removed; its papers stay." if yes else would
    sentence = sentence if terms else f"{query_key} is not followed."
    session.answer({"query_key": query_key, "terms": terms, "removed": yes}, sentence)
    session.code = 0 if yes or not terms else 1


checkpoint_command = click.Group("checkpoint", help="Show or move the watermark of a query.")


@checkpoint_command.command("get")
@click.argument("query_key")
@answering
def checkpoint_get_command(session: Session, query_key: str) -> None:
    """Show how far QUERY_KEY has been synced."""
    body = session.ask(get_checkpoint, {"query_key": query_key})
    if body["term"] is None and body["last_edat"] is None:
        raise unfollowed(query_key, session.backends)
    far = f"is synced up to {body['last_edat']}" if body["last_edat"] else "has never been synced to its end"
    session.answer(body, f"{query_key} {far}.")


@checkpoint_command.command("set")
@click.argument("query_key")
@click.argument("last_edat", metavar="TIME")
@answering
def checkpoint_set_command(session: Session, query_key: str, last_edat: str) -> None:
    """Move the watermark of QUERY_KEY to TIME (ISO 8601, UTC), backwards too: the next sync reads everything since
    then again."""
    body = session.ask(set_checkpoint, {"query_key": query_key, "last_edat": last_edat})
    session.answer(body, f"{query_key} is now at {last_edat}.")


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
        click.Path(exists=True).convert(each, None, click.get_current_context())
    if bool(files) == sample:
        raise click.UsageError("Give the files to import, or --sample.")
    with as_file(resources.files("bio_mcp").joinpath(SAMPLE)) as bundled, terminal.progress("importing") as update:
        paths = [bundled] if sample else [Path(each) for each in files]
        work = partial(_import, paths, workers or 0, if_empty, fetch)
        body = session.do("corpus.import", work, _with_rate(update))
    session.answer(body, show_import)
    session.code = 0 if body["complete"] else 1


def _import(
    paths: Sequence[Path], workers: int, if_empty: bool, fetch: bool, backends: Backends, context: Context
) -> dict[str, Any]:
    """The reports of all files and the size of the corpus. After a broken file, the records read from it stay and the
    next file follows.

    A record that cannot be from PubMed is skipped and reported. `workers` processes embed, without them this one;
    `died` counts those that ended early and were replaced.
    """
    progress = context.progress
    if fetch:
        mirror(backends.pubmed_files, paths[0], partial(finished_mark, backends=backends), progress)
    files = listed(paths)
    if if_empty and _has_others_than([file.path for file in files], backends):
        files = []
    with backends.workers(workers) if files and workers else nullcontext() as pool:
        reports = import_files(files, backends, progress, pool)
    died = pool.died if pool else 0
    size = corpus_size(backends)
    return {
        "complete": not any((each.problem or each.odd) and not each.finished_before for each in reports),
        "files": [{"file": file.path.name, **asdict(report)} for file, report in zip(files, reports, strict=False)],
        "documents": size.documents,
        "chunks": size.chunks,
        "died": died,
    }


def _has_others_than(paths: Iterable[Path], backends: Backends) -> bool:
    """Whether the corpus has a paper that is not in these files: a partial import of them does not count."""
    stored = backends.documents.count()
    if not stored:
        return False
    records = (record for path in paths for record in open_records(path))
    pmids = list({record.pmid for record in records if isinstance(record, Article)})
    return stored > len(backends.documents.heads(pmids))


def _with_rate(update: Progress) -> Progress:
    rate = terminal.rate()

    def progress(done: int, total: int | None, note: str) -> None:
        if note.isdecimal():
            note = f"{int(note):,} records, {rate(int(note)):,.0f}/s"
        update(done, total, note)

    return progress


def show_import(body: Mapping[str, Any]) -> None:
    """Print a row per file, what was wrong, then the size of the corpus."""
    read = [each for each in body["files"] if not each["finished_before"]]
    rows = [(each["file"], *(f"{each[name]:,}" for name in COUNTS)) for each in read]
    if rows:
        terminal.show(terminal.table(("file", *COUNTS.values()), rows, right=range(1, len(COUNTS) + 1)))
    for each in body["files"]:
        report = terminal.warn if each["finished_before"] else terminal.fail
        for reason in each["reasons"]:
            report(f"{each['file']}: {reason} It was skipped.")
        if (more := each["odd"] - len(each["reasons"])) > 0:
            report(f"{each['file']}: {more:,} more records were skipped.")
        if each["problem"]:
            terminal.fail(f"{each['file']}: {each['problem']} What was read before it is in the corpus.")
    if before := len(body["files"]) - len(read):
        files = terminal.counted(before, "file")
        terminal.show(f"{files} had been imported before and not been changed since: not read again.")
    if body["died"]:
        died = terminal.counted(body["died"], "worker process")
        terminal.warn(f"{died} ended early; the papers were embedded again by others. Is memory short?")
    papers, passages = terminal.counted(body["documents"], "paper"), terminal.counted(body["chunks"], "passage")
    terminal.show(f"{'The' if rows else 'Nothing was imported: the'} corpus holds {papers}, {passages}.")


load_command = click.Group("load", help="Load all of PubMed into a stack on AWS.")


@load_command.command("start")
@click.option("--fetch", is_flag=True, help="Fetch what NCBI has and the bucket has not: baseline and update files.")
@click.option(
    "--again",
    is_flag=True,
    help="Also the files that are loaded, and fetched, already; what the index lacks is written to it.",
)
@answering
def start_command(session: Session, fetch: bool, again: bool) -> None:
    """Load the files in the folder load/files of the stack's bucket, and those of NCBI with --fetch.

    Files that are loaded already are left out, so a load that failed for some is started once more, and one with
    --fetch from day to day follows PubMed.
    """
    name = session.backends.load_runs.start({"fetch": fetch, "again": again})
    session.answer({"load": name}, f"The load {name} began; bio-mcp admin load status follows it.")


@load_command.command("status")
@click.argument("name", required=False)
@answering
def status_command(session: Session, name: str | None) -> None:
    """Say how far the load NAME is, or the latest, and which files failed. Exits 1 where any did."""
    run = session.backends.load_runs.get(name or "")
    if run is None:
        raise NotFound("There was no load yet; bio-mcp admin load start begins one.")
    ended = run.ended.isoformat() if run.ended else None
    body = {"load": run.name, "state": run.state, "began": run.began.isoformat(), "ended": ended}
    body |= status_of(run.name, session.backends.load_files)
    session.answer(body, _show_load)
    session.code = 0 if run.state in ("running", "succeeded") and not body["failed"] else 1


def _show_load(body: Mapping[str, Any]) -> None:
    """Print a line for each stage that began, then the files that failed."""
    terminal.show(f"{body['load']}: {body['state']}, began {body['began']}")
    for stage in STAGES:
        if stage in body["stages"]:
            terminal.show(f"  {terminal.counted(body['stages'][stage], 'file')} {STAGE_WORDS[stage]}")
    terminal.show(f"  {body['loaded']:,} loaded, {len(body['left']):,} left, {len(body['failed']):,} failed")
    for each in body["failed"][:SHOWN_FAILURES]:
        terminal.fail(f"{each['file']} ({each['stage']}): {each['reason']}")
    if (more := len(body["failed"]) - SHOWN_FAILURES) > 0:
        terminal.fail(f"and {more:,} more; --json has them all")

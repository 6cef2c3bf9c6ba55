"""`bio-mcp review`: a systematic review from its searches to its flow diagram."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.cli.options import answering
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session, refused
from bio_mcp.doors.cli.writing import exported, format_of
from bio_mcp.errors import InvalidInput
from bio_mcp.exporting.formats import NAMES, Name
from bio_mcp.literature.identifiers import parse_pmid
from bio_mcp.ports.stores import Stage
from bio_mcp.screening.collecting import (
    Collected,
    collect_from,
    import_records,
    listed,
    possible_duplicates,
    split,
)
from bio_mcp.screening.prisma import flow, prisma_svg, search_log
from bio_mcp.screening.reviews import (
    STAGES,
    Decided,
    State,
    citation,
    create_review,
    decide,
    find_record,
    find_review,
    next_records,
    review_of,
    screener_name,
)

LARGEST = 200_000_000  # bytes of a file
SHOWN = 20  # merges, duplicates and records, unless --all

name_argument = click.argument("name")
stage_option = click.option(
    "--stage",
    type=click.Choice(get_args(Stage)),
    default="abstract",
    show_default=True,
    help="abstract: title and abstract; full_text: of those that their abstracts include.",
)
decision_argument = click.argument("decision", type=click.Choice(("include", "exclude", "maybe", "undo")))
by_option = click.option("--by", "screener", metavar="WHO", help="Who decides. [default: the user of this machine]")


@click.group("review")
@click.option(
    "--tenant",
    default="",
    expose_value=False,
    callback=lambda context, _option, tenant: setattr(context.obj, "tenant", tenant),
    help="Whose reviews: a tenant's, as its access tokens name it.",
)
def review_command() -> None:
    """Collect, screen and report a systematic review.

    NAME is that of a review which you made, or project:ID or query:KEY, the review of a project or followed query.
    """


@review_command.command("create")
@name_argument
@click.option(
    "--screeners",
    type=click.IntRange(1, 9),
    help="How many decide about each record, without seeing each other's decisions. [default: 2 of a new review]",
)
@click.option("--criteria", help="Words that speak for a record: they are marked, and rank the first ones.")
@answering
def create_command(session: Session, name: str, screeners: int | None, criteria: str | None) -> None:
    """Make the review NAME; of one that exists, --screeners and --criteria are changed where they are given."""
    plan, new = create_review(name, session.own, screeners, criteria)
    body = {"review": name, "created": new, "screeners": plan.screeners, "criteria": plan.criteria}
    became = "is there, and empty" if new else "was there already"
    many = "one person decides" if plan.screeners == 1 else f"{plan.screeners} people decide"
    session.answer(
        body,
        f"{name} {became}; {many} about each record. `bio-mcp review collect {name} --term TERM` and "
        f"`bio-mcp review import {name} FILE` bring records in.",
    )


@review_command.command("import")
@name_argument
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--database", default="", help="What was searched. [default: what the file says, or its name]")
@click.option("--term", default="", help="The search as it was run there, for the report.")
@answering
def import_command(session: Session, name: str, file: Path, database: str, term: str) -> None:
    """Add the records of FILE to the review NAME: RIS, NBIB, BibTeX, CSL-JSON, or a table (CSV), as Embase, CENTRAL,
    Scopus, Web of Science and PubMed export them.

    A record that the review has is merged with it, and listed with why: `bio-mcp review duplicates`. The same file
    again changes nothing.
    """
    with refused("FILE cannot be read"), file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InvalidInput("FILE is too large; split it")
    find_review(name, session.own)
    done = import_records(name, content, session.own, file=file.name, database=database, term=term)
    session.answer({"review": name, **_collected([done])}, COLLECTED)


@review_command.command("collect")
@name_argument
@click.option("--term", multiple=True, help="What PubMed finds by this term; repeat for more.")
@click.option("--question", multiple=True, help="What the corpus has for this question; repeat for more.")
@click.option("--topic", multiple=True, metavar="KEY", help="What this followed query finds in PubMed.")
@click.option("--project", multiple=True, metavar="ID", help="The documents of this project.")
@click.option("--pmid", "pmids", multiple=True, metavar="PMID", help="This paper; repeat for more.")
@answering
def collect_command(session: Session, /, name: str, pmids: Sequence[str], **ways: Sequence[str]) -> None:
    """Add to the review NAME what searches, topics and projects find. Without an option, all of them once more: what is
    new since then."""
    find_review(name, session.own)
    chosen = [parse_pmid(each) for each in pmids]
    with terminal.progress("collecting"):
        body = session.do(
            "review.collect",
            lambda backends, context: _collected(collect_from(name, ways, chosen, backends, context.deadline)),
        )
    session.answer({"review": name, **body}, COLLECTED)


def _collected(done: Sequence[Collected]) -> dict[str, Any]:
    searches = [
        {
            "database": each.origin.database,
            "term": each.origin.term,
            "found": each.origin.found or each.new + each.known,
            "new": each.new,
            "known": each.known,
            "merged": len(each.merged),
            "unknown": each.unknown,
            "unreadable": each.unreadable,
        }
        for each in done
    ]
    merges = [
        {"id": each.merge_id, "title": each.entry.title, "into": each.into, "why": each.why}
        for of in done
        for each in of.merged
    ]
    warnings = [warning for each in done for warning in each.warnings]
    if lost := sum(len(each.unknown) + each.unreadable for each in done):
        warnings.append(f"{terminal.counted(lost, 'record')} could not be had or read")
    return {"searches": searches, "new": sum(each.new for each in done), "merges": merges, "warnings": warnings}


COLLECTED = View(
    hidden=frozenset({"review", "new", "merges"}),
    tables={"searches": ("database", "term", "found", "new", "known", "merged")},
    labels={"database": "from"},
    foot="`bio-mcp review duplicates {review}` lists what was merged, and why.",
)


@review_command.command("list")
@click.argument("name", required=False)
@stage_option
@click.option("--show", type=click.Choice(get_args(State)), help="Of the records of NAME, those that are so.")
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d"]), metavar="DATE", help="Of these, those that no search had before."
)
@by_option
@answering
def list_command(session: Session, name: str | None, stage: Stage, show: str | None, since: Any, screener: str) -> None:
    """List the reviews, or the records of the review NAME with what was decided."""
    if name is None:
        if show or since:
            raise click.UsageError("Give NAME to list its records.")
        screenings = session.own.screenings
        session.answer({"reviews": [review_of(each, screenings).summary() for each in screenings.reviews()]}, REVIEWS)
        return
    review = find_review(name, session.own)
    names = listed(review, stage, screener, session.own, show or "", since.date() if since else None)
    rows = [review.shown(each, stage, screener) for each in names]
    session.answer({"review": name, "stage": stage, "records": rows, "count": len(rows)}, RECORDS)


REVIEWS = View(
    tables={"reviews": ("review", "screeners", "records", "screened", "included", "conflicts", "created")},
    empty="There is no review. `bio-mcp review create NAME` makes one.",
)
RECORDS = View(
    hidden=frozenset({"review", "stage", "count"}),
    tables={"records": ("id", "title", "year", "state", "reason")},
    labels={"state": "decision"},
    empty="There is none.",
)


@review_command.command("next")
@name_argument
@by_option
@stage_option
@click.option("-n", "--top-k", type=click.IntRange(1, 100), default=1, show_default=True, help="Papers to show.")
@answering
def next_command(session: Session, name: str, screener: str | None, stage: Stage, top_k: int) -> None:
    """Show what WHO may decide next in the review NAME, ranked by what they decided so far."""
    review = find_review(name, session.own)
    found = next_records(review, stage, screener, session.own, most=top_k)
    papers = [
        {
            **citation(each.record),
            "authors": list(each.record.authors[:8]),
            "abstract": each.record.abstract or "(no abstract)",
            "why": list(each.why),
        }
        for each in found.papers
    ]
    body = {"review": name, "papers": papers, "left": len(papers) + found.left_out, "warnings": list(found.warnings)}
    session.answer(body, NEXT, review.plan.criteria if review.plan else "")


NEXT = View(
    hidden=frozenset({"review", "left", "pmid", "doi"}),
    labels={"url": "at", "why": "because of"},
    empty="Nothing is left to decide.",
    foot="{left:,} left. `bio-mcp review label {review} {papers[0][id]} include|exclude|maybe`",
)


@review_command.command("label")
@name_argument
@click.argument("paper")
@decision_argument
@by_option
@stage_option
@click.option("--reason", help="Why; 'not retrieved' of a full text that could not be had.")
@answering
def label_command(session: Session, /, name: str, paper: str, decision: str, **given: Any) -> None:
    """Decide about PAPER of the review NAME, which its PMID, DOI or id names; undo takes WHO's decision back."""
    _decide(session, name, paper, decision, resolves=False, **given)


@review_command.command("resolve")
@name_argument
@click.argument("paper")
@decision_argument
@by_option
@stage_option
@click.option("--reason", help="Why.")
@answering
def resolve_command(session: Session, /, name: str, paper: str, decision: str, **given: Any) -> None:
    """Settle PAPER of the review NAME, on which screeners differ; undo takes the third decision back."""
    _decide(session, name, paper, decision, resolves=True, **given)


def _decide(
    session: Session,
    name: str,
    paper: str,
    decision: str,
    *,
    screener: str | None,
    stage: Stage,
    reason: str | None,
    resolves: bool,
) -> None:
    review = find_review(name, session.own)
    record_id = find_record(review, paper)
    decided = Decided(record_id, "none" if decision == "undo" else decision, reason)  # type: ignore[arg-type]
    changes = decide(review, stage, [decided], screener, session.own, resolves=resolves)
    if changes.not_at_stage:
        raise InvalidInput(
            "screeners do not differ about it: it needs no third decision"
            if resolves
            else "its abstract is not included, so its full text is not decided"
        )
    after, by = review_of(name, session.own.screenings), screener_name(screener)
    left = len(after.left_for(stage, screener))
    body = {
        "review": name,
        "paper": record_id,
        "stage": stage,
        "decision": decision,
        "by": by,
        "changed": changes.labelled > 0,
        "left": left,
    }
    stands = "" if changes.labelled else ", as before"
    more = f"{terminal.counted(len(after.conflicts(stage)), 'conflict')} left" if resolves else f"{left:,} left"
    session.answer(body, f"{record_id}: {decision}{stands}, by {by}. {more}.")


@review_command.command("conflicts")
@name_argument
@stage_option
@answering
def conflicts_command(session: Session, name: str, stage: Stage) -> None:
    """List the records of the review NAME on which screeners differ, with what each decided."""
    review = find_review(name, session.own)
    rows = [review.shown(each, stage, None) for each in review.conflicts(stage)]
    session.answer({"review": name, "stage": stage, "conflicts": rows, "count": len(rows)}, CONFLICTS)


CONFLICTS = View(
    hidden=frozenset({"review", "stage", "count"}),
    tables={"conflicts": ("id", "title", "decisions")},
    empty="There is no conflict.",
    foot="`bio-mcp review resolve {review} ID include|exclude --by WHO` settles one.",
)


@review_command.command("status")
@name_argument
@answering
def status_command(session: Session, name: str) -> None:
    """Show how far the review NAME is: decisions, how far screeners agree, what may be missed, and its searches."""
    review = find_review(name, session.own)
    searches = session.own.screenings.searches(name)
    body = {
        **review.summary(),
        "stages": [review.status(each) for each in STAGES],
        "searches": [asdict(each) for each in search_log(searches, None, session.own)],
        "merged": len(review.merges),
    }
    session.answer(body, _show_status)


STATUS = View(
    hidden=frozenset({"review", "criteria"}),
    tables={"stages": ("stage", "records", *get_args(State)), "searches": ("at", "database", "term", "found", "new")},
)


def _show_status(body: Mapping[str, Any]) -> View:
    for each in body["stages"]:
        for line in _lines_of_stage(each, body["screeners"]):
            terminal.show(f"{STAGES[each['stage']]}: {line}")
    return STATUS


def _lines_of_stage(stage: Mapping[str, Any], screeners: int) -> list[str]:
    people, lines = stage["people"], []
    if people:
        lines.append("; ".join(f"{each['by']} decided {each['decided']:,}" for each in people))
    if len(people) == 1 < screeners:
        lines.append("until a second person begins, the decisions of the first count")
    lines += [each["in_words"] for each in stage["agreement"]]
    stopping = stage["stopping"]
    if stopping["recall_at_least"] is not None:
        lines.append(f"{'you may stop.' if stopping['may_stop'] else 'go on.'} {stopping['in_words']}")
    return lines


@review_command.command("duplicates")
@name_argument
@click.option("--split", "merge_id", metavar="ID", help="Take this merge back: its entry is a record of its own.")
@click.option("--all", "whole", is_flag=True, help=f"Show all, not {SHOWN} of each.")
@answering
def duplicates_command(session: Session, name: str, merge_id: str | None, whole: bool) -> None:
    """List what was merged in the review NAME, and why, and which records look alike and are apart."""
    review = find_review(name, session.own)
    if merge_id:
        record = split(review, merge_id, session.own)
        done = {"review": name, "split": merge_id, "record": record.record_id}
        session.answer(done, f"{record.record_id} is a record of its own: {record.title}")
        return
    titles = {each.record_id: each.title for each in review.records}
    merged = [
        {
            "id": each.merge_id,
            "entry": each.entry.title,
            "into": each.into,
            "title": titles.get(each.into),
            "why": each.why,
        }
        for each in review.merges
    ]
    apart = [
        {
            "id": one.record_id,
            "title": one.title,
            "other": other.record_id,
            "other_title": other.title,
            "why": why,
        }
        for one, other, why in possible_duplicates(review)
    ]
    most = len(merged) + len(apart) if whole or session.as_json else SHOWN
    left_out = len(merged[most:]) + len(apart[most:])
    body = {"review": name, "merged": merged[:most], "apart": apart[:most], "left_out": left_out or None}
    session.answer(body, DUPLICATES)


DUPLICATES = View(
    hidden=frozenset({"review"}),
    tables={"merged": ("id", "entry", "into", "why"), "apart": ("id", "other", "title", "why")},
    labels={"into": "is record", "apart": "alike, and apart", "other": "and record"},
    empty="Nothing was merged, and nothing looks alike.",
    foot="`bio-mcp review duplicates {review} --split ID` takes a merge back; --all shows what is left out.",
)


@review_command.command("prisma")
@name_argument
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="Where to write it: FILE.svg, - for standard output."
)
@answering
def prisma_command(session: Session, name: str, output: str) -> None:
    """Draw the PRISMA 2020 flow diagram of the review NAME, as SVG."""
    review = find_review(name, session.own)
    counted = flow(review, session.own.screenings.searches(name))
    picture = prisma_svg(counted, name, session.own.today())
    if output == "-":
        terminal.pipe([picture])
        return
    with refused("The file cannot be written"):
        Path(output).write_text(picture, encoding="utf-8")
    body = {**asdict(counted), "identified": counted.identified, "written": output}
    session.answer(
        body,
        f"{counted.identified:,} identified, {counted.duplicates_removed:,} duplicates, {counted.screened:,} screened, "
        f"{counted.included:,} included: written to {output}.",
    )


@review_command.command("export")
@name_argument
@click.option(
    "--format", "form", type=click.Choice(NAMES), help="What to write. [default: by the ending of FILE, or ris]"
)
@click.option("-o", "--output", metavar="FILE", help="Where to write it, - for standard output. [default: a new name]")
@answering
def export_command(session: Session, name: str, form: Name | None, output: str | None) -> None:
    """Write every record of the review NAME with the decisions of all screeners. ASReview and Rayyan read ris and csv.

    What only one of several screeners has decided so far is left out, so that the others do not see it.
    """
    find_review(name, session.own)
    exported(session, {"review": name, "format": format_of(output or "", form)}, output)

"""`bio-mcp admin letters`: queued calls that were given up, why, and how they are made again."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import click

from bio_mcp.doors import terminal
from bio_mcp.doors.aws.queues import call_in
from bio_mcp.doors.cli.options import Decorator, answering
from bio_mcp.doors.cli.render import View
from bio_mcp.doors.cli.session import Session
from bio_mcp.errors import Failure, NotFound
from bio_mcp.ports.messages import Letter

letters_command = click.Group("letters", help="Show queued calls that were given up; make them again, or delete them.")

NO_QUEUE = "nothing says to which queue it belongs, or it is cut off; make its call by `bio-mcp admin call`"
HIDDEN = "Another command holds {} now, and gives them back within five minutes; run this again then to see them too."
LETTERS = View(
    tables={"letters": ("id", "origin", "call", "failed_at", "reason")},
    labels={"failed_at": "failed (UTC)"},
    hidden=frozenset({"count"}),
    empty="There are no dead letters.",
)
LETTER = View(labels={"failed_at": "failed (UTC)", "queued_at": "queued (UTC)", "queue": "goes to the queue"})


def chosen(command: Any) -> Any:
    """Arguments of what is done to some letters or all."""
    options: Sequence[Decorator] = (
        click.option("--yes", is_flag=True, help="Do it; without this, only print what would be done."),
        click.option("--all", "every", is_flag=True, help="All letters, in place of their ids."),
        click.argument("ids", nargs=-1, metavar="[ID]..."),
    )
    for each in options:
        command = each(command)
    return command


@letters_command.command("list")
@answering
def list_command(session: Session) -> None:
    """List the dead letters, oldest first: how each came, what it calls, when it failed and why."""
    letters, warnings = _all(session)
    listed = [_row(each) for each in letters]
    session.answer({"letters": listed, "count": len(listed), "warnings": warnings}, LETTERS)


@letters_command.command("show")
@click.argument("letter_id", metavar="ID")
@answering
def show_command(session: Session, letter_id: str) -> None:
    """Show the letter ID with all that is known of it, and the message as it would be sent again."""
    [letter], warnings = _some(session, [letter_id], every=False)
    session.answer({**_row(letter), "message": letter.body, "warnings": warnings}, LETTER)


@letters_command.command("redrive")
@chosen
@answering
def redrive_command(session: Session, ids: tuple[str, ...], every: bool, yes: bool) -> None:
    """Send the letters ID... to their queues again, each to the one that it came from or was meant for.

    Fix first what made them fail. A call that is made twice changes nothing the second time.
    """
    letters, warnings = _some(session, ids, every)
    unsent = [each for each in letters if not each.queue]
    warnings += [f"{each.letter_id} cannot be sent again: {NO_QUEUE}." for each in unsent]
    going = [each for each in letters if each.queue]
    sent = session.backends.dead_letters.redrive([each.letter_id for each in going]) if yes else ()
    _answer(session, going, sent, ("sent again", "redriven"), yes, warnings)
    session.code = 0 if len(sent) == len(letters) else 1


@letters_command.command("delete")
@chosen
@answering
def delete_command(session: Session, ids: tuple[str, ...], every: bool, yes: bool) -> None:
    """Delete the letters ID..., whose calls are then never made."""
    letters, warnings = _some(session, ids, every)
    gone = session.backends.dead_letters.delete([each.letter_id for each in letters]) if yes else ()
    _answer(session, letters, gone, ("deleted", "deleted"), yes, warnings)
    session.code = 0 if len(gone) == len(letters) else 1


def _answer(
    session: Session,
    letters: Sequence[Letter],
    done: Collection[str],
    words: tuple[str, str],
    yes: bool,
    warnings: list[str],
) -> None:
    """Say which letters were dealt with, or would be."""
    word, field = words
    counted = terminal.counted(len(done) if yes else len(letters), "letter")
    if not letters and not warnings:
        sentence = LETTERS.empty
    elif yes:
        sentence = f"{counted} {word}."
        if missing := [each.letter_id for each in letters if each.letter_id not in done]:
            warnings = [*warnings, f"{', '.join(missing)}: no longer there, or held by another command."]
    else:
        which = "".join(f"\n  {each.letter_id}  {_call(each)}{_to(each, word)}" for each in letters)
        sentence = f"{counted} would be {word}. Give --yes to do it.{which}"
    body = {"letters": [_row(each) for each in letters], field: list(done), "warnings": warnings}
    session.answer(body, sentence)


def _to(letter: Letter, word: str) -> str:
    return f", to the queue {letter.queue}" if word == "sent again" else ""


def _all(session: Session) -> tuple[Sequence[Letter], list[str]]:
    """The letters, and a warning where another command holds some."""
    port = session.backends.dead_letters
    held = port.held_elsewhere()
    return port.all(), [HIDDEN.format(terminal.counted(held, "letter"))] if held else []


def _some(session: Session, ids: Collection[str], every: bool) -> tuple[Sequence[Letter], list[str]]:
    """The letters of these ids, or all. Raises `NotFound` for one that is not there."""
    if bool(ids) == every:
        raise click.UsageError("Give the ids of letters, or --all.")
    letters, warnings = _all(session)
    if missing := set(ids) - {each.letter_id for each in letters}:
        first = min(missing)
        hint = warnings[0] if warnings else "`bio-mcp admin letters list` lists those that there are."
        raise NotFound(f"There is no dead letter {first}. {hint}")
    return [each for each in letters if every or each.letter_id in ids], warnings


def _row(letter: Letter) -> dict[str, Any]:
    return {
        "id": letter.letter_id,
        "origin": letter.origin or "unknown",
        "queue": letter.queue,
        "call": _call(letter),
        "queued_at": letter.queued_at.isoformat(timespec="seconds") if letter.queued_at else None,
        "failed_at": letter.failed_at.isoformat(timespec="seconds") if letter.failed_at else None,
        "tries": letter.tries,
        "received": letter.received,
        "reason": letter.reason,
    }


def _call(letter: Letter) -> str:
    """The tool that a letter calls, and of what."""
    try:
        event = call_in(letter.body)
    except Failure as failure:
        return f"none: {failure}"
    if event is None:
        return "none: a new folder"
    given: Mapping[str, Any] = event.arguments
    about = [str(given[name]) for name in ("project", "source", "query_key", "job_id") if given.get(name)]
    return " ".join((str(event.tool), *about))

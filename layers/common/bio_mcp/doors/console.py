"""What people see: tables, progress and errors on a terminal of any width, plain text where there is none."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

Update = Callable[[int, int | None, str], None]

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
PIPED_WIDTH = 100  # columns of text that no terminal shows


def _console(stream: IO[str]) -> Console:
    """No colour without a terminal or with NO_COLOR; nothing in a title is taken for markup or emoji."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.is_terminal and console.width > PIPED_WIDTH:
        console.width = PIPED_WIDTH
    return console


def out() -> Console:
    """Where answers go."""
    return _console(sys.stdout)


def err() -> Console:
    """Where progress, warnings and errors go."""
    return _console(sys.stderr)


def print_json(body: Mapping[str, Any]) -> None:
    """One JSON document on stdout; escaped where the terminal cannot show every character."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(body, ensure_ascii=not unicode, indent=2))


def say(*lines: str | Text) -> None:
    """Lines of an answer."""
    console = out()
    for line in lines:
        console.print(line)


def show(what: Table) -> None:
    """A table of an answer."""
    out().print(what)


def warn(message: str) -> None:
    """One warning, on stderr."""
    _line(("warning: ", STYLES["warn"]), message)


def fail(message: str) -> None:
    """One error, on stderr."""
    _line(("error: ", STYLES["fail"]), message)


def _line(label: tuple[str, str], message: str) -> None:
    console = err()
    console.print(Text.assemble(label, message), soft_wrap=not console.is_terminal)


def table(columns: Iterable[str], rows: Iterable[Sequence[str | Text]], right: Iterable[int] = ()) -> Table:
    """Rows under headings; the columns numbered in `right` hold numbers."""
    numbers = set(right)
    made = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for position, name in enumerate(columns):
        numeric = position in numbers
        made.add_column(name, justify="right" if numeric else "left", no_wrap=numeric, overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def styled(text: str, style: str) -> Text:
    """Text in a colour, where there are colours."""
    return Text(text, style=style)


def pairs(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """Names and values, without headings."""
    made = Table(box=None, pad_edge=False, show_header=False)
    made.add_column(style="dim", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in rows:
        made.add_row(name, value)
    return made


def number(value: float | None, digits: int = 0) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"


def many(count: int, thing: str) -> str:
    """How many of a thing, in words."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


@contextmanager
def progress(title: str) -> Iterator[Update]:
    """A bar on stderr while the block runs: `update(done, total, note)`; nothing when stderr is no terminal."""
    console = err()
    if not console.is_terminal:
        yield lambda _done, _total, _note: None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None if console.width >= 70 else 10),
        TextColumn("{task.fields[note]}", justify="right"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task(title, total=None, note="")
        yield lambda done, total, note: bar.update(task, completed=done, total=total, note=note)


class Rate:
    """Things per second since it was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start = clock, clock()

    def __call__(self, done: int) -> float:
        return done / max(self._clock() - self._start, 1e-9)

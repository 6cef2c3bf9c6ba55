"""What people see: text, tables, progress and errors on a terminal of any width.

In a pipe or file, lines are neither wrapped nor padded. No control character that came from outside gets through.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bio_mcp.progress import Progress

STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
PIPED_WIDTH = 1 << 20  # columns where no terminal shows them: no line is that long
PIPED_REPORT_S = 5  # between two lines of progress where no terminal shows a bar
# C0 but tab and line feed, DEL and C1; marks, embeddings and isolates of direction; line and paragraph separators.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    """`text` less whatever a terminal would obey instead of showing."""
    return _CONTROL.sub("", text)


class _Screen(Console):
    """No colour without a terminal or with NO_COLOR; nothing in a title is taken for markup, emoji or a command."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(file=stream, highlight=False, markup=False, emoji=False)
        if not self.is_terminal:
            self.width = PIPED_WIDTH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=without_controls(segment.text))

    def show(self, *what: RenderableType) -> None:
        """Each on lines of its own; where there is no terminal, without blanks at the ends of lines."""
        if self.is_terminal:
            self.print(*what, sep="\n")
            return
        with self.capture() as captured:
            self.print(*what, sep="\n")
        self.file.write(re.sub(" +$", "", captured.get(), flags=re.MULTILINE))


def out() -> _Screen:
    """Where answers go."""
    return _Screen(sys.stdout)


def err() -> _Screen:
    """Where progress, warnings and errors go."""
    return _Screen(sys.stderr)


def print_json(body: Mapping[str, Any]) -> None:
    """One JSON document on stdout; escaped where the terminal cannot show a character, or would obey it."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(body, ensure_ascii=not unicode, indent=2)
    print(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def say(*lines: str | Text) -> None:
    """Lines of an answer."""
    show(*lines)


def show(*what: RenderableType) -> None:
    """Text and tables of an answer."""
    out().show(*what)


def say_unwrapped(text: str) -> None:
    """Text that is copied as it stands, such as a citation; no line of it is broken on a terminal."""
    print(without_controls(text).rstrip("\n"))


def warn(message: str) -> None:
    """One warning, on stderr."""
    err().show(Text.assemble(("warning: ", STYLES["warn"]), message))


def fail(message: str) -> None:
    """One error, on stderr, as a sentence."""
    end = "" if message.endswith((".", "!", "?")) else "."
    err().show(Text.assemble(("error: ", STYLES["fail"]), message, end))


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
def progress(title: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Progress on stderr while the block runs, told by `update(done, total, note)`: a bar, or a line now and then."""
    console = err()
    if not console.is_terminal:
        yield _Reports(title, clock)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None if console.width >= 70 else 10),
        TextColumn("{task.fields[note]}", justify="right"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Bar(*columns, console=console, transient=True, expand=True) as bar:
        task = bar.add_task(title, total=None, note="")
        _notes.append(lambda note: bar.update(task, note=note))
        try:
            yield lambda done, total, note: bar.update(task, completed=done, total=total, note=note)
        finally:
            _notes.pop()


_notes: list[Callable[[str], None]] = []
"""Where the bars that are shown put a note; the innermost is the last."""


def notice(message: str) -> None:
    """What goes on meanwhile: in the bar, or a line on stderr where there is none."""
    if _notes:
        _notes[-1](message)
    else:
        err().print(message, style="dim", soft_wrap=True)


class _Reports:
    """A line on stderr every few seconds: "importing: 120 records, 9/s"."""

    def __init__(self, title: str, clock: Callable[[], float]) -> None:
        self._title, self._clock = title, clock
        self._next = clock() + PIPED_REPORT_S

    def __call__(self, _done: int, _total: int | None, note: str) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + PIPED_REPORT_S
            err().show(f"{self._title}: {note}")


class Rate:
    """Things per second since it was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start = clock, clock()

    def __call__(self, done: int) -> float:
        return done / max(self._clock() - self._start, 1e-9)

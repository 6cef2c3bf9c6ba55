"""Terminal output: text, tables, progress and errors, on a terminal of any width.

In a pipe or file, lines are neither wrapped nor padded. No control character from outside gets through.
"""

import json
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bio_mcp.deadline import Progress
from bio_mcp.untrusted import neutral

PIPED_WIDTH = 1 << 20  # columns where no terminal shows them: no line is that long
RATE_S = 60  # over which a rate is taken
PIPED_REPORT_S = 5  # between two lines of progress where no terminal shows a bar
# C0 but tab and line feed, DEL and C1; marks, embeddings and isolates of direction; line and paragraph separators.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def without_controls(text: str) -> str:
    """`text` without what nobody sees, and without the control characters that a terminal would execute."""
    return _CONTROL.sub("", neutral(text, places=False))


class _Screen(Console):
    """A console without colour in pipes and with NO_COLOR. Nothing in a text is taken for markup, emoji or a control
    sequence."""

    def __init__(self, stream: IO[str]) -> None:
        super().__init__(file=stream, highlight=False, markup=False, emoji=False)
        if not self.is_terminal:
            self.width = PIPED_WIDTH

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Render without control characters from outside."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=without_controls(segment.text))

    def show(self, *what: RenderableType) -> None:
        """Print each renderable on lines of its own; in pipes, without trailing blanks."""
        if self.is_terminal:
            self.print(*what, sep="\n")
            return
        with self.capture() as captured:
            self.print(*what, sep="\n")
        self.file.write(re.sub(" +$", "", captured.get(), flags=re.MULTILINE))


def err() -> _Screen:
    """The console for progress, warnings and errors: standard error."""
    return _Screen(sys.stderr)


def is_screen() -> bool:
    """Whether a terminal shows what is printed."""
    return _Screen(sys.stdout).is_terminal


def print_json(body: Mapping[str, Any]) -> None:
    """Print one JSON document on stdout, escaping characters that the terminal cannot show or would execute."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(body, ensure_ascii=not unicode, indent=2)
    print(_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def show(*what: RenderableType) -> None:
    """Print text and tables of an answer."""
    _Screen(sys.stdout).show(*what)


def say_unwrapped(text: str) -> None:
    """Print text that is meant to be copied, such as a citation, without wrapping its lines."""
    print(without_controls(text).rstrip("\n"))


def pipe(texts: Iterable[str]) -> None:
    """Print parts of a file in UTF-8, with their line ends, without the control characters that a terminal would
    execute."""
    sys.stdout.flush()
    for text in texts:
        sys.stdout.buffer.write("\r\n".join(map(without_controls, text.split("\r\n"))).encode())


def warn(message: str) -> None:
    """Print a warning on stderr."""
    err().show(Text.assemble(("warning: ", "yellow"), message))


def fail(message: str) -> None:
    """Print an error on stderr, as a sentence."""
    end = "" if message.endswith((".", "!", "?")) else "."
    err().show(Text.assemble(("error: ", "bold red"), message, end))


def table(
    columns: Iterable[str], rows: Iterable[Sequence[str | Text]], right: Iterable[int] = (), whole: Iterable[int] = ()
) -> Table:
    """A table with headings; the columns numbered in `right` are right-aligned, and as those in `whole` not wrapped."""
    numbers = set(right)
    unwrapped = numbers.union(whole)
    table_ = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for position, name in enumerate(columns):
        numeric = position in numbers
        table_.add_column(name, justify="right" if numeric else "left", no_wrap=position in unwrapped, overflow="fold")
    for row in rows:
        table_.add_row(*row)
    return table_


def pairs(rows: Iterable[tuple[str, str | Text]]) -> Table:
    """A table of names and values without headings."""
    table_ = Table(box=None, pad_edge=False, show_header=False)
    table_.add_column(style="dim", no_wrap=True)
    table_.add_column(overflow="fold")
    for name, value in rows:
        table_.add_row(name, value)
    return table_


def counted(count: int, thing: str) -> str:
    """A count with its noun, in the plural if needed."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


@contextmanager
def progress(title: str, clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """Show progress on stderr while the block runs: a bar on a terminal, else a line every few seconds.

    The block calls `update(done, total, note)`.
    """
    console = err()
    if not console.is_terminal:
        yield _reports(title, clock)
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
"""The callbacks that put a note into a shown bar; the innermost bar is the last."""


def notice(message: str) -> None:
    """Show what is going on: in the progress bar, or as a line on stderr if there is none."""
    if _notes:
        _notes[-1](message)
    else:
        err().print(message, style="dim", soft_wrap=True)


def _reports(title: str, clock: Callable[[], float]) -> Progress:
    """Prints a line on stderr every few seconds: "importing: 120 records, 9/s, 0:01:40 left"."""
    per_s, due = rate(clock), clock() + PIPED_REPORT_S

    def report(done: int, total: int | None, note: str) -> None:
        nonlocal due
        fast = per_s(done)
        if clock() >= due:
            due = clock() + PIPED_REPORT_S
            left = f", {timedelta(seconds=round((total - done) / fast))} left" if total and fast else ""
            err().show(f"{title}: {note}{left}")

    return report


def rate(clock: Callable[[], float] = time.monotonic) -> Callable[[int], float]:
    """Counts things per second, over the last minute, since its creation, or since it was told of fewer than before."""
    seen = deque([(clock(), 0)])

    def per_second(done: int) -> float:
        now = clock()
        if done < seen[-1][1]:
            seen.clear()
            seen.append((now, done))
        while len(seen) > 1 and seen[1][0] <= now - RATE_S:
            seen.popleft()
        since, before = seen[0]
        if now - seen[-1][0] >= 1:
            seen.append((now, done))
        return (done - before) / max(now - since, 1e-9)

    return per_second

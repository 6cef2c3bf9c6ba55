"""What reaches a terminal, a pipe or a file."""

import json

import pytest
from rich.text import Text

from bio_mcp.doors import terminal as screen

CONTROLS = [*map(chr, (*range(9), *range(11, 32), *range(127, 160)))]
DIRECTIONS = [*"\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]
SEPARATORS = [*"\u2028\u2029"]
OBEYED = CONTROLS + DIRECTIONS + SEPARATORS
HOSTILE = f"a{''.join(OBEYED)}b"


@pytest.mark.parametrize(
    "show",
    [
        screen.show,
        screen.say_unwrapped,
        screen.warn,
        screen.fail,
        lambda text: screen.show(Text(text, "bold")),
        lambda text: screen.show(screen.table(("name", text), [(text, text)])),
        lambda text: screen.show(screen.pairs([("name", text)])),
    ],
)
@pytest.mark.parametrize("width", [None, 60])
def test_nothing_that_a_terminal_would_obey_is_shown(capsys, terminal, show, width):
    if width:
        terminal(width)
    show(HOSTILE)
    shown = "".join(capsys.readouterr())
    assert {"a", "b"} <= set(shown)
    ours = {"\x1b"} if width else set()
    assert set(shown) & set(OBEYED) <= ours
    assert shown.count("\x1b") == shown.count("\x1b[")
    assert "\x1b[2J" not in shown


def test_progress_shows_nothing_either(capsys, terminal):
    terminal(100)
    with screen.progress("importing") as update:
        update(1, 2, HOSTILE.replace("\x1b", ""))
    assert not set(capsys.readouterr().err) & {*DIRECTIONS, *SEPARATORS, "\x9b", "\x07"}


def test_json_keeps_every_character_and_holds_none_of_them(capsys):
    screen.print_json({"title": HOSTILE, "ä": "β-blocker"})
    shown = capsys.readouterr().out
    assert set(shown) & set(OBEYED) == set()
    assert json.loads(shown) == {"title": HOSTILE, "ä": "β-blocker"}
    assert "β-blocker" in shown


def test_a_long_line_is_whole_where_no_terminal_shows_it(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    screen.show("word " * 100)
    screen.show(screen.pairs([("long", "word " * 50), ("short", "x")]))
    assert capsys.readouterr().out.splitlines() == [
        ("word " * 100).rstrip(),
        "long   " + ("word " * 50).rstrip(),
        "short  x",
    ]


@pytest.mark.parametrize(
    ("done", "total", "reported"),
    [
        (range(13), None, ["importing: 5, 1/s", "importing: 10, 1/s"]),
        (range(0, 60, 10), 10_000, ["importing: 50, 1/s, 0:16:35 left"]),
        ((0, 500, 1_000, 1_000, 1, 5), 1_000, ["importing: 5, 1/s, 0:04:09 left"]),  # a step that counts anew
    ],
)
def test_progress_is_a_line_every_few_seconds_where_no_terminal_shows_a_bar(capsys, done, total, reported):
    now = 0.0
    with screen.progress("importing", clock=lambda: now) as update:
        for second, number in enumerate(done):
            now = float(second)
            update(number, total, f"{number}, 1/s")
    assert capsys.readouterr().err.splitlines() == reported


def test_a_rate_is_of_the_last_minute():
    now = 0.0
    rate = screen.rate(lambda: now)
    now = 10.0
    assert rate(1_000) == 100
    now = 100.0
    rate(1_100)
    now = 170.0
    assert rate(1_240) == 2

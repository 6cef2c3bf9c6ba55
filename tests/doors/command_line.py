"""The fixture `cli`: the command line over a corpus of its own, in this process, with a model that needs no weights."""

import json
import logging
import re
from dataclasses import dataclass, field
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path

import pytest

from bio_mcp.doors.cli.program import run
from bio_mcp.literature.medline import open_records
from bio_mcp.settings import Settings
from bio_mcp.syncing.applying import apply_records
from tests.support.corpus import Corpus


@dataclass
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def shown(self):
        """Stdout as a terminal shows it, without the escape sequences that colour it."""
        return re.sub(r"\x1b\[[0-9;]*m", "", self.out)

    @property
    def said(self):
        """All that was shown, in one line."""
        return " ".join((self.shown + self.err).split())

    @property
    def checks(self):
        """Of `doctor --json`: each check's state, and what was found and what to do."""
        return {each["check"]: (each["state"], f"{each['found']} {each['remedy']}") for each in self.json["checks"]}

    @property
    def json(self):
        """Stdout as the one JSON document that it must be."""
        return json.loads(self.out)


@dataclass
class CommandLine:
    """`cli("search", "migraine")` runs one command."""

    home: Path
    capsys: pytest.CaptureFixture
    settings: dict = field(default_factory=dict)
    ncbi: str = "http://127.0.0.1:9/"
    ncbi_files: str = "http://127.0.0.1:9/pubmed/"
    other_models: list = field(default_factory=list)

    def __call__(self, *argv):
        self.capsys.readouterr()
        configured = Settings(**{"home": self.home, "ncbi_admin_email": "test@example.org", **self.settings})
        code = run(list(argv), configure=lambda: configured, wire=lambda _: self.corpus())
        return Ran(code, *self.capsys.readouterr())

    def corpus(self):
        corpus = Corpus(self.home, self.ncbi, ncbi_files_url=self.ncbi_files)
        corpus.other_models = self.other_models
        return corpus

    def fill(self, papers=40):
        """Put some of the bundled sample into the corpus."""
        self.add(*islice(sample(), papers))

    def add(self, *records):
        """Put records into the corpus."""
        with self.corpus() as corpus:
            apply_records(records, corpus)


def sample():
    """The records of the bundled sample, in its order: the retracted ones are early."""
    with as_file(files("bio_mcp") / "samples/pubmed.xml.gz") as path:
        yield from open_records(path)


@pytest.fixture
def terminal(monkeypatch):
    """Makes stdout and stderr a terminal of that many columns."""

    def columns(width):
        for name, value in {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(width)}.items():
            monkeypatch.setenv(name, value)

    return columns


@pytest.fixture
def cli(tmp_path, capsys):
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield CommandLine(tmp_path / "home", capsys)
    for handler in set(root.handlers) - set(before):
        handler.close()
    root.handlers[:], root.level = before, level

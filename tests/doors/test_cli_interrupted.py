"""Ctrl-C while libraries are loaded, which may turn it into an error of their own."""

import signal
import subprocess
import sys

import pytest

from bio_mcp.doors.cli.program import run
from bio_mcp.errors import NotFound
from bio_mcp.settings import Settings

STARTING = """
import sys

class Interrupted:
    def find_spec(self, name, *_):
        if name == "bio_mcp.doors.cli.program":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupted())
from bio_mcp.doors.cli import main
sys.exit(main(["tools"]))
"""


def interrupted(error):
    """Ctrl-C in a library that raises its own error for it."""
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
    raise error


class Backends:
    """Backends whose store of checkpoints fails to load."""

    def __init__(self, error):
        self.error = error

    @property
    def checkpoints(self):
        interrupted(self.error)

    def close(self):
        pass


def failing_in_a_tool(error):
    return lambda _settings: Backends(error)


def failing_while_wiring(error):
    return lambda _settings: interrupted(error)


@pytest.mark.parametrize("failing", [failing_in_a_tool, failing_while_wiring])
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [(ImportError("numpy"), 130, "stopped"), (NotFound("no such key"), 1, "error: no such key.")],
    ids=["an error of the library", "a failure with a reason"],
)
def test_an_interrupt_that_became_an_unexpected_error_is_an_interrupt(capsys, tmp_path, failing, error, code, message):
    wire = failing(error)
    assert run(["checkpoint", "get", "x"], configure=lambda: Settings(home=tmp_path), wire=wire) == code
    assert capsys.readouterr().err.strip() == message
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_while_the_program_is_loaded_shows_no_trace():
    ran = subprocess.run([sys.executable, "-c", STARTING], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "stopped\n")

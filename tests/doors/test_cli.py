"""The command line as a whole: help, exit codes, JSON, errors, colours."""

import json
import os
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from bio_mcp import __version__
from bio_mcp.doors.cli.program import MENU, run
from bio_mcp.errors import InvalidInput
from bio_mcp.settings import Settings

COMMANDS = [name for section in MENU.values() for name in section]
LAZY = "click", "rich", "pydantic", "numpy", "lxml"
ANSWERING = [
    ["import", "--sample", "--if-empty"],
    ["search", "acupuncture for migraine"],
    ["get", "27602157"],
    ["admin", "checkpoint", "set", "migraine", "2024-01-01T00:00:00Z"],
    ["admin", "queries", "list"],
    ["doctor"],
    ["admin", "tools"],
    ["admin", "call", "corpus_queries"],
    ["admin", "call", "rag.get", '{"doc_id": "pmid:27602157"}'],
]
FAILING = [
    (["search", ""], 2, "VALIDATION"),
    (["search", "x", "--top-k", "0"], 2, "VALIDATION"),
    (["search", "x", "--top-k", "101"], 2, "VALIDATION"),
    (["search", "x", "--year-from", "2020", "--year-to", "2010"], 2, "VALIDATION"),
    (["search", "x", "--publication-types", "sonnet"], 2, "VALIDATION"),
    (["search", "x", "--top-k", "many"], 2, "VALIDATION"),
    (["search"], 2, "VALIDATION"),
    (["get", "1"], 1, "NOT_FOUND"),
    (["get", "abc"], 2, "VALIDATION"),
    (["admin", "checkpoint", "get", ""], 2, "VALIDATION"),
    (["admin", "checkpoint", "set", "migraine", "yesterday"], 2, "VALIDATION"),
    (["sync", "migraine", ""], 2, "VALIDATION"),
    (["sync", "migraine", "(migraine"], 2, "VALIDATION"),
    (["sync", "migraine", "migraine"], 1, "ENTREZ"),
    (["import"], 2, "VALIDATION"),
    (["import", "no-such-file.xml"], 2, "VALIDATION"),
    (["admin", "call", "rag_serch"], 2, "VALIDATION"),
    (["admin", "call", "rag_search", "{"], 2, "VALIDATION"),
    (["admin", "call", "rag_search", "[]"], 2, "VALIDATION"),
    (["admin", "call", "rag_search", "{}"], 2, "VALIDATION"),
    (["admin", "call", "rag_search", "@no-such-file.json"], 2, "VALIDATION"),
    (["admin", "call", "rag_get", '{"doc_id": "pmid:1"}'], 1, "NOT_FOUND"),
    (["conjure"], 2, "VALIDATION"),
]


def words(argv):
    return " ".join(argv)


def test_the_version_and_the_list_of_commands_import_nothing_heavy():
    loaded = f"print([name for name in {LAZY} if name in sys.modules])"
    code = f"import sys; from bio_mcp.doors.cli import main; main(['--version']); {loaded}; main(['--help']); {loaded}"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    version, before, *listed, after = shown.splitlines()
    assert (version, before) == (f"bio-mcp {__version__}", "[]")
    assert "numpy" not in after
    assert all(name in "\n".join(listed) for name in COMMANDS)


def test_no_command_at_all_shows_the_help(cli):
    ran = cli()
    assert ran.code == 2
    assert all(f"{title}:" in ran.err for title in MENU)


@pytest.mark.parametrize("argv", ANSWERING, ids=words)
def test_json_is_one_document_on_stdout_and_nothing_else(cli, argv):
    cli.fill()
    ran = cli(*argv, "--json")
    assert (ran.code, ran.err) == (0, "")
    assert "error" not in ran.json


def after_waiting(err):
    """The lines that do not say that NCBI is waited for."""
    return [line for line in err.splitlines() if not line.startswith("waiting for NCBI at ")]


@pytest.mark.parametrize(("argv", "code", "error"), FAILING, ids=[words(argv) for argv, _, _ in FAILING])
def test_a_failure_is_one_sentence_on_stderr_and_the_error_envelope_as_json(cli, argv, code, error):
    ran = cli(*argv)
    assert (ran.code, ran.out) == (code, "")
    [sentence] = after_waiting(ran.err)
    assert sentence.startswith("error: ")
    assert sentence.endswith(".")
    ran = cli(*argv, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (code, error)
    assert after_waiting(ran.err) == []


def test_wrong_use_names_the_help(cli):
    assert cli("search").err == "error: Missing argument 'QUERY...'. See `bio-mcp search --help`.\n"


def test_a_setting_that_cannot_be_read_is_named(capsys):
    def configure():
        return Settings.from_env({"MCP_HTTP_PORT": "soon"})

    assert run(["admin", "tools"], configure=configure) == 1
    assert capsys.readouterr().err == "error: MCP_HTTP_PORT must be a whole number, 0 or more.\n"


def test_a_data_directory_that_cannot_be_made_is_reported(capsys):
    configured = Settings(home=Path(os.devnull))
    assert run(["admin", "checkpoint", "get", "x"], configure=lambda: configured) == 1
    shown = capsys.readouterr()
    assert (shown.out, shown.err.startswith("error: ")) == ("", True)


def test_a_bug_is_a_sentence_and_its_trace_is_in_the_log(cli, capsys):
    class Broken:
        @property
        def checkpoints(self):
            raise ZeroDivisionError("the secret is 42")

        def close(self):
            pass

    configured = Settings(home=cli.home)
    assert run(["admin", "checkpoint", "get", "x"], configure=lambda: configured, wire=lambda _: Broken()) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: internal error; the log has it under correlation id ")
    correlation_id = message.split()[-1].rstrip(".")
    log = (cli.home / "bio-mcp.log").read_text()
    assert correlation_id in log
    assert "ZeroDivisionError" in log


def test_a_failure_while_wiring_is_a_sentence_too(capsys, tmp_path):
    def wire(_settings):
        raise InvalidInput("this mode needs a bucket")

    assert run(["admin", "checkpoint", "get", "x"], configure=lambda: Settings(home=tmp_path), wire=wire) == 1
    assert capsys.readouterr().err == "error: this mode needs a bucket.\n"


def test_a_reader_that_has_gone_is_no_error_message():
    command = f"{sys.executable} -c 'from bio_mcp.doors.cli import main; main()' admin tools --json | head -c 1"
    ran = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)  # noqa: S602  a pipe is meant
    assert (ran.stdout, ran.stderr) == ("{", "")


def test_no_color_takes_the_colours_from_a_terminal(cli, monkeypatch):
    cli.fill()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    assert "\x1b[1;32m" in cli("search", "miR-429").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;32m" not in cli("search", "miR-429").out


def test_json_stays_sound_where_stdout_knows_only_ascii(cli, monkeypatch):
    with TextIOWrapper(BytesIO(), encoding="ascii") as ascii_only:
        monkeypatch.setattr(sys, "stdout", ascii_only)
        assert cli("news", "พาราเซตามอล", "--json").code == 1
        monkeypatch.undo()
        assert "'พาราเซตามอล'" in json.loads(ascii_only.buffer.getvalue())["error"]["message"]


@pytest.mark.parametrize("arguments", [["--json"], []])
def test_an_answer_that_finds_no_room_is_an_error_of_one_line(cli, monkeypatch, arguments):
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        ran = cli("doctor", *arguments)
        monkeypatch.undo()
    assert ran.code == 1
    assert ran.err == "error: The answer could not be written: No space left on device.\n"


@pytest.mark.parametrize("arguments", [["doctor", "--json"], ["doctor"], ["get", "1"]])
def test_closed_streams_are_nobodys_trouble(cli, monkeypatch, arguments):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    code = cli(*arguments).code
    sys.stdout.close()
    sys.stderr.close()
    assert code == 1  # as for any answer that cannot be written, or a paper that is not there


@pytest.mark.parametrize("arguments", [["admin", "tools"], ["admin", "tools", "--json"], ["--help"]])
def test_an_answer_that_has_no_standard_output_is_an_error_of_one_line(cli, monkeypatch, arguments):
    monkeypatch.setattr(sys, "stdout", None)
    ran = cli(*arguments)
    sys.stdout.close()
    monkeypatch.undo()
    assert (ran.code, ran.err) == (1, "error: The answer could not be written: standard output is closed.\n")


@pytest.mark.parametrize(
    ("redirected", "why"), [(">&-", "standard output is closed"), (">/dev/full", "No space left on device")]
)
def test_a_version_that_cannot_be_written_is_an_error_of_one_line(redirected, why):
    program = "import sys; from bio_mcp.doors.cli import main; sys.exit(main())"
    command = ["sh", "-c", f'"$@" {redirected}', "sh", sys.executable, "-c", program, "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, f"error: The answer could not be written: {why}.\n")

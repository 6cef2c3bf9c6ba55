"""`python -m benchmarks`: which benchmarks a command line runs. None is run here."""

import pytest

from benchmarks import __main__ as command
from benchmarks.__main__ import main, names


def test_help_lists_the_benchmarks_and_runs_none(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "NAME --OPTION" in shown
    assert all(name in shown.replace("\n", " ") for name in names())


def test_help_of_a_benchmark_says_what_it_measures_and_does_not_run_it(capsys):
    page = command.PAGE.read_bytes()
    with pytest.raises(SystemExit) as ended:
        main(["rivals", "--help"])
    assert ended.value.code in (None, 0)
    assert "python -m benchmarks rivals" in capsys.readouterr().out.replace("benchmarks.", "benchmarks ")
    assert command.PAGE.read_bytes() == page


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        (["--work", "DIR"], "unrecognized arguments: --work"),
        (["--works"], "unrecognized arguments: --works"),
        (["no_such"], "no benchmark is called no_such; there are answers, "),
        (["--", "engine"], "options are of one benchmark"),
        (["engine", "rivals", "--work", "DIR"], "options are of one benchmark"),
    ],
)
def test_a_command_line_that_names_no_benchmark_is_refused(capsys, asked, problem):
    with pytest.raises(SystemExit) as ended:
        main(asked)
    assert ended.value.code == 2
    assert problem in capsys.readouterr().err

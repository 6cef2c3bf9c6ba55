"""Measure, and write what was measured into docs/benchmarks.md between the markers of each benchmark that it has.

python -m benchmarks [NAME ...]           all, or those named: embedding, engine, parsing, retrieval, serving ...
python -m benchmarks NAME --OPTION ...    with the options of that benchmark; --help says what it measures

A benchmark without markers on the page is only printed: `code`, whose figures are of the checkout at hand.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"


def names() -> list[str]:
    """The benchmarks: every module here that measures."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith(("_", "build_")))


def recorded(page: str, name: str, measured: str) -> str:
    """`page` with `measured` between its markers for `name`; as it is where it has none."""
    marked = re.compile(rf"(<!-- measured {name} -->\n).*?(<!-- /measured {name} -->)", re.DOTALL)
    text = f"```text\n{measured.strip()}\n```\n"
    return marked.sub(lambda found: found[1] + text + found[2], page)


def main(asked: Sequence[str]) -> int:
    """Run them one after the other; a benchmark that fails changes nothing and ends the run."""
    chosen, options = _read(asked)
    for name in chosen:
        print(f"{name} ...", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *options]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        print(ran.stdout)
        if ran.returncode:
            return ran.returncode
        before = PAGE.read_text(encoding="utf-8")
        if (after := recorded(before, name, ran.stdout)) != before:
            PAGE.write_text(after, encoding="utf-8")
    return 0


def _read(asked: Sequence[str]) -> tuple[list[str], list[str]]:
    """The benchmarks to run, and the options of the one that is named. Exits where the command line asks for help, or
    cannot be read."""
    known = names()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        usage="%(prog)s [NAME ...] | NAME --OPTION ... | NAME --help",
        description="Measure, and write what was measured into docs/benchmarks.md where it has a place. "
        "All are run if none is named.",
        epilog=f"NAME is one of {', '.join(known)}.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a benchmark")
    options = list(dropwhile(lambda each: not each.startswith("-"), asked))
    named = list(asked[: len(asked) - len(options)])
    if unknown := sorted(set(named) - set(known)):
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(known)}")
    if not named:
        parser.parse_args(options)
    if options and len(named) != 1:
        parser.error("options are of one benchmark: name it alone")
    if {"-h", "--help"} & set(options):
        print(ast.get_docstring(ast.parse((HERE / f"{named[0]}.py").read_text(encoding="utf-8"))))
        sys.exit()
    return named or known, options


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

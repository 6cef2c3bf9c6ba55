"""`python -m scripts.template` renders what follows from the functions; `--check` fails where it was not done.

That is a part of template.yaml, between markers, and functions/<name>/app.py for each module of tools. A function needs
what its tools call when their examples run: see `scripts.template.functions`.
"""

import logging
import re
import sys
from collections.abc import Callable, Sequence

from scripts.docs import publish
from scripts.port_grants import Given
from scripts.template import index, loading, policies, shell
from scripts.template.blocks import block
from scripts.template.functions import ROOT, Function, functions
from scripts.template.resources import resources
from scripts.template.watching import alarms, loops, table, with_series
from tests.support.touched_ports import needed

APP = '''"""Lambda entry point: the tools of bio_mcp.tools.{name}."""

from bio_mcp.doors.aws.tool_function import handler_for
from bio_mcp.tools import {name}

handler = handler_for({name})
'''


def rendered(template: str, given: Sequence[Function]) -> str:
    """The template with all that follows from its functions."""
    template = filled(template, "table of functions", block(table(given), 2))
    template = filled(template, "policies that functions share", block(index.policies() | policies.of_secrets(), 2))
    template = filled(template, "functions", "\n".join(_whole(each, given) for each in given))
    template = filled(template, "of every function", block(loops(given), 2))
    template = filled(template, "roles that use the index, by name", block(index.roles(given), 2))
    template = filled(template, "what a shell sets", block(shell.environment(), 2))
    template = filled(template, "state machine of bulk loads", loading.definition_string())
    return with_series(template, [name for each in given for name in each.names])


def _whole(function: Function, given: Sequence[Function]) -> str:
    callees = [each for each in given if each.offered]
    return block(resources(function, callees) | alarms(function), 2)


def filled(template: str, name: str, text: str) -> str:
    """The template with `text` between the comments `# <name>...` and `# </name>`. Raises `ValueError` without them."""
    marked = re.compile(rf"(^ *# <{name}>[^\n]*\n).*?(^ *# </{name}>)", re.DOTALL | re.MULTILINE)
    if not marked.search(template):
        raise ValueError(f"template.yaml has no markers # <{name}> and # </{name}>")
    return marked.sub(lambda found: f"{found[1]}{text}{found[2]}", template)


def files(given: Sequence[Function]) -> dict[str, str]:
    """Each rendered file by its path in the repository."""
    apps = {f"functions/{each.name}/app.py": APP.format(name=each.name) for each in given if each.offered}
    return {**apps, "template.yaml": rendered((ROOT / "template.yaml").read_text(encoding="utf-8"), given)}


def main(argv: Sequence[str], needed: Callable[[str], Given] = needed) -> int:
    """Write what is out of date, or with `--check` say what that is; returns the exit code.

    An example that fails, or that calls what scripts/port_grants.py does not know, is told by its sentence.
    """
    try:
        found = files(functions(needed))
    except (AssertionError, LookupError) as unusable:
        print(unusable, file=sys.stderr)
        return 1
    return publish(found, "--check" in argv)


if __name__ == "__main__":
    logging.getLogger("bio_mcp").addHandler(logging.NullHandler())  # for what examples warn of
    sys.exit(main(sys.argv[1:]))

"""Commands of AWS's command line, as the pages have them, run by its SDK: it has the same operations and parameters."""

import re
import shlex
from collections.abc import Iterable
from typing import Any

import jmespath
from botocore import xform_name

from tests.emulated.clients import Connect


def commands(page: str, heading: str) -> list[str]:
    """Those in the code of one section of a page, each in a line of its own."""
    section = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#|\Z)", page, re.MULTILINE | re.DOTALL)
    assert section, heading
    code = "\n".join(re.findall(r"^```text\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)).replace("\\\n", "")
    return [line for line in code.splitlines() if line.startswith("aws ")]


def run(to: Connect, command: str) -> Any:
    """What `aws SERVICE OPERATION --parameter value ...` answers, or nothing for `aws SERVICE wait ...`.

    KeyError for what the service does not know.
    """
    _, service, operation, *rest = shlex.split(command, comments=True)
    client = to(service)
    if waits := operation == "wait":
        operation, *rest = rest
    options = _options(rest)
    query = options.pop("query", "")
    options.pop("output", None)
    if waits:
        waiter = client.get_waiter(operation.replace("-", "_"))
        waiter.config.delay = 1  # seconds
        return waiter.wait(**{"".join(map(str.capitalize, name.split("-"))): each for name, each in options.items()})
    model = client.meta.service_model
    named = {xform_name(each).replace("_", "-"): each for each in model.operation_names}[operation]
    members = {xform_name(each).replace("_", "-"): each for each in model.operation_model(named).input_shape.members}
    call, given = xform_name(named), {members[name]: each for name, each in options.items()}
    if client.can_paginate(call):
        answer = client.get_paginator(call).paginate(**given).build_full_result()
    else:
        answer = getattr(client, call)(**given)
    return jmespath.search(query, answer) if query else answer


def _options(words: Iterable[str]) -> dict[str, Any]:
    """`--name value`, `--name` and `--no-name`, by name."""
    found: dict[str, Any] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word.removeprefix("--").removeprefix("no-")
            found[name] = not word.startswith("--no-")
        else:
            found[name] = word
    return found

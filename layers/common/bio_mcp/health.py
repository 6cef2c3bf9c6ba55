"""What a check of the installation finds."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from bio_mcp.errors import Failure

log = logging.getLogger("bio_mcp.doctor")

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """What the check of that name found. `state` is OK, WARN or FAIL; `remedy` is what to do, "" for nothing."""

    state: str
    found: str
    remedy: str = ""
    check: str = ""


def examine(name: str, check: Callable[[], Finding]) -> Finding:
    """Return what `check` finds, under `name`; a failure or a bug in it is a finding, too."""
    try:
        return replace(check(), check=name)
    except Failure as failure:
        return Finding(FAIL, str(failure), check=name)
    except Exception as error:
        log.exception("a check of the doctor crashed")
        found = f"this check crashed ({type(error).__name__})"
        return Finding(FAIL, found, "The log has the traceback; look there first.", name)

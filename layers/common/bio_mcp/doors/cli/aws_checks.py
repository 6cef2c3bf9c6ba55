"""What `bio-mcp doctor` checks of a stack on AWS."""

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from bio_mcp.doors.cli.checks import FAIL, OK, WARN, Check, Finding
from bio_mcp.ports import Backends
from bio_mcp.settings import Settings

if TYPE_CHECKING:
    from bio_mcp.adapters.aws.inspection import Look
    from bio_mcp.wiring.aws import Aws


def looking(look: "Callable[[Aws], Look]") -> Check:
    """What was looked at, as a finding."""

    def check(_settings: Settings, backends: Backends) -> Finding:
        seen = look(cast("Aws", backends))
        state = FAIL if seen.broken else WARN if seen.remedy else OK
        return Finding(state, seen.found, seen.remedy)

    return check


STACK: dict[str, Check] = {
    "tables": looking(lambda stack: stack.look_at_tables()),
    "queue": looking(lambda stack: stack.look_at_queue()),
    "bucket": looking(lambda stack: stack.look_at_bucket()),
    "event bus": looking(lambda stack: stack.look_at_bus()),
}

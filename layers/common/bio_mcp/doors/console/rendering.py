"""Renders the templates. Whatever a paper, a client or a file holds is shown as text."""

from typing import TYPE_CHECKING, Any

from bio_mcp.callers import PUBLIC
from bio_mcp.doors.console import plots
from bio_mcp.doors.console.static import address
from bio_mcp.doors.console.times import ago, shown
from bio_mcp.lazy import Lazy
from bio_mcp.literature.clock import utc_now
from bio_mcp.literature.quality import DESIGN_NAMES
from bio_mcp.untrusted import neutral

if TYPE_CHECKING:
    from jinja2 import Environment

PLOTS = {
    "by_day": plots.by_day,
    "by_year": plots.by_year,
    "by_latency": plots.by_latency,
    "course": plots.course,
}


def render(template: str, **values: Any) -> str:
    """`template` with `values`, each escaped, and with the characters replaced that no reader sees."""
    return _environment().get_template(template).render(values)


def _made() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader(__package__),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(static=address, plots=PLOTS, designs=DESIGN_NAMES, public=PUBLIC)
    made.filters.update(ago=lambda iso: ago(iso, utc_now()), shown=shown)
    return made


def _printable(value: Any) -> Any:
    return neutral(value) if type(value) is str else value  # not `Markup`, which is ours


_environment = Lazy(_made)

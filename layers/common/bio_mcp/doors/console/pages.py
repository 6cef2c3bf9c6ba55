"""What a page is, and the menu of all."""

from dataclasses import dataclass

from bio_mcp import dialects
from bio_mcp.tool import Family, Resource

CONSOLE = Family("console", dialects.BIO_MCP)


@dataclass(frozen=True, slots=True)
class Page:
    """A page at `path` that shows what `reads` gives, as `data` in the template `template`.

    `reads` is given the path's `{parameters}` and those of the query that `takes` names, as strings. `menu` is the
    page's name in the menu; "" leaves it out.
    """

    path: str
    template: str
    reads: Resource
    menu: str = ""
    takes: tuple[str, ...] = ()

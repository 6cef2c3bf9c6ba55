"""The sources that clients name, each by the place that it is in."""

import re
from collections.abc import Callable, Mapping

from bio_mcp.errors import InvalidInput
from bio_mcp.ports.sources import SourceFile, Sources

FILES = "file"
FORMS = {FILES: "a path", "s3": "s3://bucket/key", "https": "https://..."}
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*)://|(file):", re.IGNORECASE)


class GuardedSources:
    """The port `Sources` over `places` by the scheme of what they read, each made when it is first asked for."""

    def __init__(self, places: Mapping[str, Callable[[], Sources]]) -> None:
        self._places = places

    def locate(self, source: str, *, local: bool) -> str:
        return self._place(source).locate(source, local=local)

    def files(self, location: str, *, local: bool) -> list[SourceFile]:
        return self._place(location).files(location, local=local)

    def read(self, address: str, *, local: bool) -> bytes:
        return self._place(address).read(address, local=local)

    def _place(self, source: str) -> Sources:
        found = _SCHEME.match(source)
        scheme = (found[1] or found[2]).lower() if found else FILES
        if scheme == "http":
            raise InvalidInput("source: http addresses are not read, as anybody on the way may change them; use https")
        if scheme not in self._places:
            named = "a path is not read here" if scheme == FILES else f"{scheme} addresses are not read"
            forms = ", ".join(form for name, form in FORMS.items() if name in self._places)
            raise InvalidInput(f"source: {named}; a source is {forms} or zotero")
        return self._places[scheme]()

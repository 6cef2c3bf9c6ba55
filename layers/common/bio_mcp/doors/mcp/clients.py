"""Which clients give their model the structured content of an answer in the place of its text.

For these an answer's text is a line, as the whole would be sent twice for nothing. Evidence is in docs/decisions.md. An
error is sent in both forms to all: Claude Code gives its model the text of one alone.
"""

import re

from bio_mcp.doors.mcp.listing import RequestContext

READING_STRUCTURED = {
    "claude-code": (2, 1),
    "codex-mcp-client": (0, 100),
    "Visual Studio Code": (1, 109),
    "Visual Studio Code - Insiders": (1, 109),
}
"""By the name that a client gives itself, the first version of which it is known."""
IN_STRUCTURED = "The answer is this result's structuredContent."
_VERSION = re.compile(r"(\d{1,5})\.(\d{1,5})")


def reads_structured(context: RequestContext) -> bool:
    """Whether the client of a request is one of those; without a handshake, as over stateless HTTP, its User-Agent
    says."""
    if params := context.session.client_params:
        name, version = params.client_info.name, params.client_info.version
    else:
        name, _, version = (getattr(context.request, "headers", None) or {}).get("user-agent", "").partition("/")
    since, found = READING_STRUCTURED.get(name), _VERSION.match(version)
    return since is not None and found is not None and (int(found[1]), int(found[2])) >= since

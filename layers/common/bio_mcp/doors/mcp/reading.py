"""The contents of what an MCP client reads, and links to files in answers."""

import base64

import mcp_types as types

from bio_mcp.call import Outcome
from bio_mcp.schemas import FileText
from bio_mcp.tool import Resource, Tool


def links(tool: Tool, outcome: Outcome) -> list[types.ResourceLink]:
    """A link to the file that an answer names, if it names one."""
    file = outcome.body.get("file") if "file" in tool.output.model_fields else None
    if not file:
        return []
    return [types.ResourceLink(uri=file["uri"], name=file["name"], mime_type=file["mime_type"], size=file["bytes"])]


def contents(
    resource: Resource, uri: str, outcome: Outcome
) -> list[types.TextResourceContents | types.BlobResourceContents]:
    """The contents of a resource: first in the form of its contract, then, as a model cannot read a blob, as text."""
    if issubclass(resource.output, FileText):
        return [types.TextResourceContents(uri=uri, mime_type=outcome.body["mime_type"], text=outcome.body["text"])]
    plain = types.TextResourceContents(uri=uri, mime_type=resource.mime_type, text=outcome.text)
    if not resource.blob:
        return [plain]
    blob = base64.b64encode(outcome.text.encode()).decode()
    return [types.BlobResourceContents(uri=uri, mime_type=resource.mime_type, blob=blob), plain]

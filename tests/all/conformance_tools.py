"""What the official conformance suite calls by name, added to a server of ours. Never part of the product."""

import base64
import json
import struct
import zlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.lowlevel import Server

Handler = Callable[[Any, dict[str, Any]], Awaitable[Any]]

ADDRESS = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
EVERY_KEYWORD = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"$anchor": "addressDef", **ADDRESS}},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
BY_HEADER = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "q": {"type": "string"}},
    "required": ["region"],
}


def picture() -> str:
    """One red pixel as PNG, base64."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixel = zlib.compress(b"\x00\xff\x00\x00")
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixel) + chunk(b"IEND", b"")
    return base64.b64encode(png).decode()


def sound() -> str:
    """No samples at 8 kHz as WAV, base64."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    return base64.b64encode(b"RIFF" + struct.pack("<I", 36) + b"WAVE" + form + b"data" + struct.pack("<I", 0)).decode()


def embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def text(words: str) -> types.TextContent:
    return types.TextContent(text=words)


def image() -> types.ImageContent:
    return types.ImageContent(data=picture(), mime_type="image/png")


def always(*content: Any, is_error: bool = False) -> Handler:
    async def answer(_asked: Any, _arguments: dict[str, Any]) -> types.CallToolResult:
        return types.CallToolResult(content=list(content), is_error=is_error)

    return answer


async def repeat(_asked: Any, arguments: dict[str, Any]) -> types.CallToolResult:
    return types.CallToolResult(content=[text(json.dumps(arguments))])


async def progress(asked: Any, _arguments: dict[str, Any]) -> types.CallToolResult:
    for done in (0, 50, 100):
        await asked.session.report_progress(done, 100, f"{done}%")
    return types.CallToolResult(content=[text("done")])


async def needs_sampling(asked: Any, _arguments: dict[str, Any]) -> types.CallToolResult:
    offered = asked.session.client_capabilities
    if not (offered and offered.sampling is not None):
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "this tool needs sampling", needed)
    return types.CallToolResult(content=[text("sampling is there")])


async def asks_back(_asked: Any, _arguments: dict[str, Any]) -> types.InputRequiredResult:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    asked = types.ElicitRequest(params=types.ElicitRequestFormParams(message="name?", requested_schema=schema))
    return types.InputRequiredResult(input_requests={"name": asked}, request_state="s")


MIXED = (
    text("Multiple content types test:"),
    image(),
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
)
TOOLS: dict[str, tuple[dict[str, Any], Handler]] = {
    "test_simple_text": (NOTHING, always(text("This is a simple text response for testing."))),
    "test_image_content": (NOTHING, always(image())),
    "test_audio_content": (NOTHING, always(types.AudioContent(data=sound(), mime_type="audio/wav"))),
    "test_embedded_resource": (
        NOTHING,
        always(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
    ),
    "test_multiple_content_types": (NOTHING, always(*MIXED)),
    "test_error_handling": (
        NOTHING,
        always(text("This tool intentionally returns an error for testing"), is_error=True),
    ),
    "test_tool_with_progress": (NOTHING, progress),
    "json_schema_2020_12_tool": (EVERY_KEYWORD, repeat),
    "test_missing_capability": (NOTHING, needs_sampling),
    "test_streaming_elicitation": (NOTHING, asks_back),
    "test_logging_tool": (NOTHING, always(text("logged"))),
    "test_header_tool": (BY_HEADER, repeat),
}


def static(uri: str) -> types.ReadResourceResult | None:
    found: Any = None
    if uri == "test://static-text":
        words = "This is the content of the static text resource."
        found = types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
    elif uri == "test://static-binary":
        found = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=picture())
    elif uri.startswith("test://template/") and uri.endswith("/data"):
        named = uri.removeprefix("test://template/").removesuffix("/data")
        body = {"id": named, "templateTest": True, "data": f"Data for ID: {named}"}
        found = types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(body))
    return found and types.ReadResourceResult(contents=[found])


async def list_tools(own: Any, asked: Any, given: Any) -> Any:
    listed = await own(asked, given)
    listed.tools += [
        types.Tool(name=name, description=name, input_schema=schema) for name, (schema, _) in TOOLS.items()
    ]
    return listed


async def call_tool(own: Any, asked: Any, given: Any) -> Any:
    if given.name in TOOLS:
        return await TOOLS[given.name][1](asked, given.arguments or {})
    return await own(asked, given)


async def list_resources(own: Any, asked: Any, given: Any) -> Any:
    listed = await own(asked, given)
    kinds = {"static-text": "text/plain", "static-binary": "image/png"}
    listed.resources += [
        types.Resource(uri=f"test://{name}", name=name, mime_type=kind) for name, kind in kinds.items()
    ]
    return listed


async def list_templates(own: Any, asked: Any, given: Any) -> Any:
    listed = await own(asked, given)
    listed.resource_templates.append(types.ResourceTemplate(uri_template="test://template/{id}/data", name="template"))
    return listed


async def read(own: Any, asked: Any, given: Any) -> Any:
    return static(given.uri) or await own(asked, given)


def prompt(*content: Any) -> types.GetPromptResult:
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in content])


PROMPTS: dict[str, tuple[list[str], Callable[[dict[str, str]], types.GetPromptResult]]] = {
    "test_simple_prompt": ([], lambda _: prompt(text("This is a simple prompt for testing."))),
    "test_prompt_with_arguments": (
        ["arg1", "arg2"],
        lambda given: prompt(text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")),
    ),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: prompt(
            embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ),
    ),
    "test_prompt_with_image": ([], lambda _: prompt(image(), text("Please analyze the image above."))),
}


async def list_prompts(own: Any, asked: Any, given: Any) -> Any:
    listed = await own(asked, given)
    for name, (arguments, _) in PROMPTS.items():
        takes = [types.PromptArgument(name=each, description=each, required=True) for each in arguments]
        listed.prompts.append(types.Prompt(name=name, description=name, arguments=takes))
    return listed


async def get_prompt(own: Any, asked: Any, given: Any) -> Any:
    return PROMPTS[given.name][1](given.arguments or {}) if given.name in PROMPTS else await own(asked, given)


async def complete(own: Any, asked: Any, given: Any) -> Any:
    if getattr(given.ref, "name", None) in PROMPTS:
        return types.CompleteResult(completion=types.Completion(values=["paris", "park", "party"], has_more=False))
    return await own(asked, given)


ADDED: dict[str, tuple[Any, Callable[..., Awaitable[Any]]]] = {
    "tools/list": (types.PaginatedRequestParams, list_tools),
    "tools/call": (types.CallToolRequestParams, call_tool),
    "resources/list": (types.PaginatedRequestParams, list_resources),
    "resources/templates/list": (types.PaginatedRequestParams, list_templates),
    "resources/read": (types.ReadResourceRequestParams, read),
    "prompts/list": (types.PaginatedRequestParams, list_prompts),
    "prompts/get": (types.GetPromptRequestParams, get_prompt),
    "completion/complete": (types.CompleteRequestParams, complete),
}


def with_fixtures(server: Server[Any]) -> Server[Any]:
    """`server` with the tools, resources and prompts of the suite; everything else goes to its own handlers."""
    for method, (params, added) in ADDED.items():
        own = server.get_request_handler(method)
        assert own is not None
        server.add_request_handler(method, params, partial(added, own.handler))
    schema_of = server.get_tool_input_schema
    assert schema_of is not None
    server.get_tool_input_schema = lambda name: TOOLS[name][0] if name in TOOLS else schema_of(name)
    return server

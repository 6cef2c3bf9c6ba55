"""`prompts/list` and `prompts/get`."""

from collections.abc import Mapping

import mcp_types as types
from mcp.shared.exceptions import MCPError

from bio_mcp.call import excerpt
from bio_mcp.doors.mcp.listing import RequestContext
from bio_mcp.errors import InvalidInput
from bio_mcp.prompts import PROMPTS, Prompt


async def list_prompts(
    _context: RequestContext, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    """List the prompts, which are the same for every caller."""
    return types.ListPromptsResult(prompts=[_listed(each) for each in PROMPTS.values()])


async def get_prompt(_context: RequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Fill a prompt in. Raises `MCPError` for an unknown one and for arguments that do not fit."""
    asked = known_prompt(params.name)
    try:
        text = asked.text(params.arguments or {})
    except InvalidInput as problem:
        raise MCPError(types.INVALID_PARAMS, str(problem), {"prompt": asked.name}) from None
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=asked.description, messages=[message])


def known_prompt(name: str) -> Prompt:
    """The prompt called `name`. Raises `MCPError` that lists the known ones."""
    if name not in PROMPTS:
        message = f"Unknown prompt: {excerpt(name)}. Available prompts: {', '.join(PROMPTS)}"
        data: Mapping[str, object] = {"prompt": excerpt(name), "available": list(PROMPTS)}
        raise MCPError(types.INVALID_PARAMS, message, data)
    return PROMPTS[name]


def _listed(prompt: Prompt) -> types.Prompt:
    arguments = [
        types.PromptArgument(name=each.name, description=each.description, required=each.required)
        for each in prompt.arguments
    ]
    return types.Prompt(name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments)

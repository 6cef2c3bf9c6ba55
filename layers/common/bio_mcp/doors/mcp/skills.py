"""The skills extension (SEP-2640, `io.modelcontextprotocol/skills`): skills as resources `skill://NAME/SKILL.md`.

`skills/list` and `skills/get` say what there is, with the digest of each file; `resources/read` has the file. To a
client without the extension they are ordinary resources. They are the package's own text and the same for every
caller, so no call is counted.
"""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from bio_mcp.call import excerpt
from bio_mcp.doors.mcp.listing import RequestContext
from bio_mcp.skills import FILE, Skill, all_skills

EXTENSION = "io.modelcontextprotocol/skills"
MARKDOWN = "text/markdown"
FRESH: dict[str, Any] = {"ttlMs": 300_000, "cacheScope": "public"}

ListResources = Callable[[RequestContext, types.PaginatedRequestParams | None], Awaitable[types.ListResourcesResult]]
ReadResource = Callable[[RequestContext, types.ReadResourceRequestParams], Awaitable[types.ReadResourceResult]]


class Skills:
    """Answers `skills/list` and `skills/get`, and adds the skills to the resources."""

    def __init__(self, list_others: ListResources, read_other: ReadResource) -> None:
        self._skills = {f"skill://{each.name}": each for each in all_skills()}
        self._list_others, self._read_other = list_others, read_other

    def offer(self, server: Server[Any]) -> None:
        """Let `server` offer the extension."""
        server.extensions[EXTENSION] = {}
        page, address = types.PaginatedRequestParams, types.ReadResourceRequestParams
        server.add_request_handler("skills/list", page, self.list_skills)
        server.add_request_handler("skills/get", address, self.get_skill)
        server.add_request_handler("resources/list", page, self.list_resources)
        server.add_request_handler("resources/read", address, self.read_resource)

    async def list_skills(self, _context: RequestContext, _params: Any) -> dict[str, Any]:
        """Answer `skills/list`."""
        entries = [_entry(root, each) for root, each in self._skills.items()]
        return {"resultType": "complete", "skills": entries, **FRESH}

    async def get_skill(self, _context: RequestContext, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        """Answer `skills/get`."""
        root = params.uri.removesuffix(f"/{FILE}")
        if root == params.uri or root not in self._skills:
            message = f"No skill is served at {excerpt(params.uri)}"
            raise MCPError(types.INVALID_PARAMS, message, {"available": [f"{each}/{FILE}" for each in self._skills]})
        return {"resultType": "complete", "skill": _entry(root, self._skills[root]), **FRESH}

    async def list_resources(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer `resources/list` with the skills after the other resources."""
        listed = await self._list_others(context, params)
        listed.resources += [_listed(root, each) for root, each in self._skills.items()]
        return listed

    async def read_resource(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Answer `resources/read`."""
        found = self._skills.get(params.uri.removesuffix(f"/{FILE}"))
        if found is None or not params.uri.endswith(FILE):
            return await self._read_other(context, params)
        text = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=found.content.decode())
        return types.ReadResourceResult(contents=[text], ttl_ms=FRESH["ttlMs"], cache_scope=FRESH["cacheScope"])


def _entry(root: str, skill: Skill) -> dict[str, Any]:
    digest = f"sha256:{hashlib.sha256(skill.content).hexdigest()}"
    file = {"uri": f"{root}/{FILE}", "digest": digest, "size": len(skill.content)}
    return {"uri": f"{root}/{FILE}", "frontmatter": dict(skill.front_matter), "resources": [file]}


def _listed(root: str, skill: Skill) -> types.Resource:
    return types.Resource(
        uri=f"{root}/{FILE}", name=skill.name, description=skill.front_matter["description"], mime_type=MARKDOWN
    )

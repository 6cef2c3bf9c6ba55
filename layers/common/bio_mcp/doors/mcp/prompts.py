"""Prompts, skills, and what may follow the characters that a person has typed into an argument.

A prompt is what a person may ask for by name, as a slash command: a skill with the person's own words.

The values of arguments come from tools that list them, called for the client as any call is: with its scopes, tenant,
limits and audit record, and on AWS in the function of the tool. Skills (SEP-2640, `io.modelcontextprotocol/skills`) are
resources `skill://NAME/SKILL.md`, the same for every caller, so no call of them is counted.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from bio_mcp.call import Outcome
from bio_mcp.doors.mcp.listing import RequestContext, body_of
from bio_mcp.errors import InvalidInput
from bio_mcp.skills import FILE, NAMES, skill
from bio_mcp.tool import Resource, Tool
from bio_mcp.untrusted import excerpt, neutral

LONGEST_FILLED_IN = 4_000  # characters of an argument


def _argument(name: str, description: str, *, required: bool = False) -> types.PromptArgument:
    return types.PromptArgument(name=name, description=description, required=required)


PROMPTS = {
    "clinical_question": types.Prompt(
        name="clinical_question",
        title="Answer a clinical question",
        description="Answer a clinical question from PubMed, with PMIDs, quotes, and what is not known.",
        arguments=[
            _argument("question", "the question, in one sentence", required=True),
            _argument("project", "a project of your own documents to look through as well"),
        ],
    ),
    "systematic_search": types.Prompt(
        name="systematic_search",
        title="Search systematically",
        description="Build a reproducible PubMed search for a topic, bring its papers in, and write down what was "
        "done.",
        arguments=[
            _argument("topic", "the topic or review question", required=True),
            _argument("mesh_heading", "a MeSH heading that the topic is under"),
            _argument("query_key", "the name to store the search under"),
        ],
    ),
    "what_is_new": types.Prompt(
        name="what_is_new",
        title="What is new on a topic",
        description="Bring a followed topic up to date and report what is new, changed or retracted.",
        arguments=[
            _argument("query_key", "the followed query", required=True),
            _argument("since", "the day from which on to report, YYYY-MM-DD"),
        ],
    ),
}
SKILLS = {
    "clinical_question": "answer-clinical-question",
    "systematic_search": "systematic-search",
    "what_is_new": "keep-topic-current",
}
"""The skill that answers each prompt."""
LABELS = {
    "question": "Question",
    "project": "Project",
    "topic": "Topic",
    "mesh_heading": "MeSH heading to begin with",
    "query_key": "Query key",
    "since": "Since",
}
"""What stands before the value of an argument."""


def filled_in(prompt: types.Prompt, given: Mapping[str, str]) -> str:
    """What the agent is asked: what a person filled in, then the skill. Raises `InvalidInput` for an argument that
    lacks, is unknown or is too long."""
    arguments = prompt.arguments or []
    known = [each.name for each in arguments]
    if unknown := [name for name in given if name not in known]:
        raise InvalidInput(f"{prompt.name} has no argument {unknown[0][:50]!r}; it takes {', '.join(known)}")
    lines = []
    for each in arguments:
        value = neutral(given.get(each.name, "")).strip()
        if each.required and not value:
            raise InvalidInput(f"{prompt.name} needs {each.name}: {each.description}")
        if len(value) > LONGEST_FILLED_IN:
            raise InvalidInput(f"{each.name} is longer than {LONGEST_FILLED_IN:,} characters")
        if value:
            lines.append(f"{LABELS[each.name]}: {value}")
    return "\n".join([*lines, "", "Proceed as follows.", "", skill(SKILLS[prompt.name]).text])


async def list_prompts(
    _context: RequestContext, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    """List the prompts, which are the same for every caller."""
    return types.ListPromptsResult(prompts=list(PROMPTS.values()))


async def get_prompt(_context: RequestContext, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """Fill a prompt in. Raises `MCPError` for an unknown one and for arguments that do not fit."""
    asked = known_prompt(params.name)
    try:
        text = filled_in(asked, params.arguments or {})
    except InvalidInput as problem:
        raise MCPError(types.INVALID_PARAMS, str(problem), {"prompt": asked.name}) from None
    message = types.PromptMessage(role="user", content=types.TextContent(text=text))
    return types.GetPromptResult(description=asked.description, messages=[message])


def known_prompt(name: str) -> types.Prompt:
    """The prompt called `name`. Raises `MCPError` that lists the known ones."""
    if name not in PROMPTS:
        message = f"Unknown prompt: {excerpt(name)}. Available prompts: {', '.join(PROMPTS)}"
        data: Mapping[str, object] = {"prompt": excerpt(name), "available": list(PROMPTS)}
        raise MCPError(types.INVALID_PARAMS, message, data)
    return PROMPTS[name]


EXTENSION = "io.modelcontextprotocol/skills"
MARKDOWN = "text/markdown"
FRESH: dict[str, Any] = {"ttlMs": 300_000, "cacheScope": "public"}


ADDRESSES = {f"skill://{name}/{FILE}": name for name in NAMES}
"""The names of the skills by their addresses."""


def skill_resources() -> list[types.Resource]:
    """The skills as `resources/list` shows them."""
    return [
        types.Resource(uri=uri, name=name, description=skill(name).front_matter["description"], mime_type=MARKDOWN)
        for uri, name in ADDRESSES.items()
    ]


def read_skill(uri: str) -> types.ReadResourceResult | None:
    """The skill at an address as `resources/read` answers with it; None for one that is no skill's."""
    if uri not in ADDRESSES:
        return None
    written = skill(ADDRESSES[uri]).content.decode()
    text = types.TextResourceContents(uri=uri, mime_type=MARKDOWN, text=written)
    return types.ReadResourceResult(contents=[text], ttl_ms=FRESH["ttlMs"], cache_scope=FRESH["cacheScope"])


def offer_skills(server: Server[Any]) -> None:
    """Let `server` offer the extension, which answers `skills/list` and `skills/get`."""

    async def list_skills(_context: RequestContext, _params: Any) -> dict[str, Any]:
        return {"resultType": "complete", "skills": [_entry(uri) for uri in ADDRESSES], **FRESH}

    async def get_skill(_context: RequestContext, params: types.ReadResourceRequestParams) -> dict[str, Any]:
        if params.uri not in ADDRESSES:
            message = f"No skill is served at {excerpt(params.uri)}"
            raise MCPError(types.INVALID_PARAMS, message, {"available": list(ADDRESSES)})
        return {"resultType": "complete", "skill": _entry(params.uri), **FRESH}

    server.extensions[EXTENSION] = {}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, list_skills)
    server.add_request_handler("skills/get", types.ReadResourceRequestParams, get_skill)


def _entry(uri: str) -> dict[str, Any]:
    found = skill(ADDRESSES[uri])
    digest = f"sha256:{hashlib.sha256(found.content).hexdigest()}"
    file = {"uri": uri, "digest": digest, "size": len(found.content)}
    return {"uri": uri, "frontmatter": dict(found.front_matter), "resources": [file]}


MOST = 100  # values of an answer, by the protocol
LONGEST = 200  # characters of a value: no key or heading has more
MESH_FROM = 3  # characters from which on NCBI is asked for headings
HEADINGS = 20

Run = Callable[[Tool | Resource, Mapping[str, Any], RequestContext], Awaitable[Outcome]]
COMPLETED = {
    "query_key": ("corpus.queries", "queries", "query_key"),
    "project": ("list_projects", "projects", "id"),
    "mesh_heading": ("lookupMeshTerms", "terms", "name"),
}
"""By the name of the argument, in whichever prompt or address of a resource it stands: the tool that lists its values,
and where they stand in its answer."""


def _question(name: str, typed: str) -> Mapping[str, Any] | None:
    """What the tool is asked; None: nothing yet. Headings are asked for by the words that they begin with: nothing that
    is a field or an operator of Entrez passes."""
    if name != "mesh_heading":
        return {"starts_with": typed.strip()} if name == "query_key" else {}
    words = re.sub(r"[^\w\s,'-]", " ", typed).split()
    return {"term": " ".join(words) + "*", "maxResults": HEADINGS} if len("".join(words)) >= MESH_FROM else None


@dataclass(frozen=True)
class Completing:
    """Answers `completion/complete`. `parameters` are those of resources, by their addresses."""

    tools: Mapping[str, Tool]
    parameters: Mapping[str, Sequence[str]]
    run: Run

    async def complete(self, context: RequestContext, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument. Raises `MCPError` for one that is not there, and where its values cannot be had."""
        name, typed = params.argument.name, params.argument.value
        self._check(params.ref, name)
        if len(typed) > LONGEST:
            raise MCPError(types.INVALID_PARAMS, f"{name} is longer than {LONGEST} characters")
        tool, listed, field = COMPLETED.get(name, ("", "", ""))
        if tool not in self.tools or (asked := _question(name, typed)) is None:
            return types.CompleteResult(completion=types.Completion(values=[]))
        body = body_of(await self.run(self.tools[tool], asked, context))
        begun = " ".join(typed.split()).casefold()
        known = dict.fromkeys(each[field] for each in body[listed])
        values = [each for each in known if each.casefold().startswith(begun)]
        left_out = body.get("left_out", 0) > 0 or body.get("totalFound", 0) > len(body[listed])
        more = len(values) > MOST or left_out
        return types.CompleteResult(completion=types.Completion(values=values[:MOST], has_more=more))

    def _check(self, ref: types.PromptReference | types.ResourceTemplateReference, argument: str) -> None:
        """Raise `MCPError` unless there is such a prompt or resource, and it has the argument."""
        if isinstance(ref, types.PromptReference):
            known = [each.name for each in known_prompt(ref.name).arguments or ()]
        elif ref.uri in self.parameters:
            known = list(self.parameters[ref.uri])
        else:
            raise MCPError(types.INVALID_PARAMS, f"Unknown resource. Available: {', '.join(self.parameters)}")
        if argument not in known:
            message = f"there is no argument {excerpt(argument, 50)}; there are {', '.join(known) or 'none'}"
            raise MCPError(types.INVALID_PARAMS, message)

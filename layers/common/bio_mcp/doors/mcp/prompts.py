"""Prompts, skills, and what may follow the characters that a person has typed into an argument.

A prompt is what a person may ask for by name, as a slash command: a skill with the person's own words.

The values of arguments come from tools that list them, called for the client as any call is: with its scopes, tenant,
limits and audit record, and on AWS in the function of the tool. Skills (SEP-2640, `io.modelcontextprotocol/skills`) are
resources `skill://NAME/SKILL.md`, the same for every caller, so no call of them is counted.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from bio_mcp.call import Outcome, excerpt
from bio_mcp.doors.mcp.listing import RequestContext, body_of
from bio_mcp.errors import InvalidInput
from bio_mcp.skills import FILE, Skill, all_skills, skill
from bio_mcp.tool import Resource, Tool
from bio_mcp.untrusted import neutral

LONGEST_FILLED_IN = 4_000  # characters of an argument


@dataclass(frozen=True, slots=True)
class Argument:
    """A blank of a prompt. `label` is what stands before its value."""

    name: str
    label: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request, made of what a person filled in and the skill that answers it."""

    name: str
    title: str
    description: str
    skill: str
    arguments: tuple[Argument, ...]

    def text(self, given: Mapping[str, str]) -> str:
        """What the agent is asked. Raises `InvalidInput` for an argument that lacks, is unknown or is too long."""
        known = [each.name for each in self.arguments]
        if unknown := [name for name in given if name not in known]:
            raise InvalidInput(f"{self.name} has no argument {unknown[0][:50]!r}; it takes {', '.join(known)}")
        lines = [line for each in self.arguments if (line := self._filled(each, given.get(each.name, "")))]
        return "\n".join([*lines, "", "Proceed as follows.", "", skill(self.skill).text])

    def _filled(self, argument: Argument, given: str) -> str:
        """The line with an argument; "" where nothing is given."""
        value = neutral(given).strip()
        if argument.required and not value:
            raise InvalidInput(f"{self.name} needs {argument.name}: {argument.description}")
        if len(value) > LONGEST_FILLED_IN:
            raise InvalidInput(f"{argument.name} is longer than {LONGEST_FILLED_IN:,} characters")
        return f"{argument.label}: {value}" if value else ""


PROMPTS: Mapping[str, Prompt] = {
    each.name: each
    for each in (
        Prompt(
            "clinical_question",
            "Answer a clinical question",
            "Answer a clinical question from PubMed, with PMIDs, quotes, and what is not known.",
            "answer-clinical-question",
            (
                Argument("question", "Question", "the question, in one sentence", required=True),
                Argument("project", "Project", "a project of your own documents to look through as well"),
            ),
        ),
        Prompt(
            "systematic_search",
            "Search systematically",
            "Build a reproducible PubMed search for a topic, bring its papers in, and write down what was done.",
            "systematic-search",
            (
                Argument("topic", "Topic", "the topic or review question", required=True),
                Argument("mesh_heading", "MeSH heading to begin with", "a MeSH heading that the topic is under"),
                Argument("query_key", "Query key", "the name to store the search under"),
            ),
        ),
        Prompt(
            "what_is_new",
            "What is new on a topic",
            "Bring a followed topic up to date and report what is new, changed or retracted.",
            "keep-topic-current",
            (
                Argument("query_key", "Query key", "the followed query", required=True),
                Argument("since", "Since", "the day from which on to report, YYYY-MM-DD"),
            ),
        ),
    )
}


async def list_prompts(
    _context: RequestContext, _params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    """List the prompts, which are the same for every caller."""
    listed = [
        types.Prompt(
            name=prompt.name,
            title=prompt.title,
            description=prompt.description,
            arguments=[
                types.PromptArgument(name=each.name, description=each.description, required=each.required)
                for each in prompt.arguments
            ],
        )
        for prompt in PROMPTS.values()
    ]
    return types.ListPromptsResult(prompts=listed)


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
        listed.resources += [
            types.Resource(
                uri=f"{root}/{FILE}", name=each.name, description=each.front_matter["description"], mime_type=MARKDOWN
            )
            for root, each in self._skills.items()
        ]
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


MOST = 100  # values of an answer, by the protocol
LONGEST = 200  # characters of a value: no key or heading has more
MESH_FROM = 3  # characters from which on NCBI is asked for headings
HEADINGS = 20

Run = Callable[[Tool | Resource, Mapping[str, Any], RequestContext], Awaitable[Outcome]]
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completed:
    """How an argument is completed: which tool lists its values, asked with what (None: not at all)."""

    tool: str
    asked: Callable[[str], Mapping[str, Any] | None]
    values: Callable[[Body], Iterable[str]]
    left_out: Callable[[Body], bool]


def _mesh_question(typed: str) -> Mapping[str, Any] | None:
    """Headings that begin with the words typed; nothing that is a field or an operator of Entrez passes."""
    words = re.sub(r"[^\w\s,'-]", " ", typed).split()
    return {"term": " ".join(words) + "*", "maxResults": HEADINGS} if len("".join(words)) >= MESH_FROM else None


COMPLETED = {
    "query_key": Completed(
        "corpus.queries",
        lambda typed: {"starts_with": typed.strip()},
        lambda body: (each["query_key"] for each in body["queries"]),
        lambda body: body["left_out"] > 0,
    ),
    "project": Completed(
        "list_projects",
        lambda _typed: {},
        lambda body: (each["id"] for each in body["projects"]),
        lambda body: body.get("left_out", 0) > 0,
    ),
    "mesh_heading": Completed(
        "lookupMeshTerms",
        _mesh_question,
        lambda body: (each["name"] for each in body["terms"]),
        lambda body: body["totalFound"] > len(body["terms"]),
    ),
}
"""By the name of the argument, in whichever prompt or address of a resource it stands."""


class Completing:
    """Answers `completion/complete`."""

    def __init__(self, tools: Mapping[str, Tool], resources: Iterable[Resource], run: Run) -> None:
        self._tools, self._run = tools, run
        self._resources = {each.uri: each.parameters for each in resources}

    async def complete(self, context: RequestContext, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument. Raises `MCPError` for one that is not there, and where its values cannot be had."""
        name, typed = params.argument.name, params.argument.value
        self._check(params.ref, name)
        if len(typed) > LONGEST:
            raise MCPError(types.INVALID_PARAMS, f"{name} is longer than {LONGEST} characters")
        how = COMPLETED.get(name)
        asked = how.asked(typed) if how and how.tool in self._tools else None
        if how is None or asked is None:
            return types.CompleteResult(completion=types.Completion(values=[]))
        body = body_of(await self._run(self._tools[how.tool], asked, context))
        values = _beginning(how.values(body), typed)
        more = len(values) > MOST or how.left_out(body)
        return types.CompleteResult(completion=types.Completion(values=values[:MOST], has_more=more))

    def _check(self, ref: types.PromptReference | types.ResourceTemplateReference, argument: str) -> None:
        """Raise `MCPError` unless there is such a prompt or resource, and it has the argument."""
        if isinstance(ref, types.PromptReference):
            known = [each.name for each in known_prompt(ref.name).arguments]
        elif ref.uri in self._resources:
            known = list(self._resources[ref.uri])
        else:
            raise MCPError(types.INVALID_PARAMS, f"Unknown resource. Available: {', '.join(self._resources)}")
        if argument not in known:
            message = f"there is no argument {excerpt(argument, 50)}; there are {', '.join(known) or 'none'}"
            raise MCPError(types.INVALID_PARAMS, message)


def _beginning(values: Iterable[str], typed: str) -> list[str]:
    """The values that begin with what is typed, in either case, each once; in the order of the tool."""
    begun = " ".join(typed.split()).casefold()
    return [each for each in dict.fromkeys(values) if each.casefold().startswith(begun)]

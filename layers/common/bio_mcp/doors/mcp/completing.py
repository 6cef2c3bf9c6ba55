"""`completion/complete`: what may follow the characters that a person has typed into an argument.

The values come from tools that list them, called for the client as any call is: with its scopes, tenant, limits and
audit record, and on AWS in the function of the tool.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from bio_mcp.call import Outcome, excerpt
from bio_mcp.doors.mcp.listing import RequestContext
from bio_mcp.doors.mcp.prompting import known_prompt
from bio_mcp.tool import Resource, Tool

MOST = 100  # values of an answer, by the protocol
LONGEST = 200  # characters of a value: no key or heading has more
MESH_FROM = 3  # characters from which on NCBI is asked for headings
HEADINGS = 20
FAULT_OF_CALLER = {"VALIDATION", "NOT_FOUND", "INVALID_ARG", "INVALID_PROJECT"}

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
        body = _checked(await self._run(self._tools[how.tool], asked, context))
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


def _checked(outcome: Outcome) -> Body:
    """The body of an outcome. Raises `MCPError` where it is a failure, as an outage is no empty list."""
    if outcome.failed:
        error = outcome.body["error"]
        code = types.INVALID_PARAMS if error["code"] in FAULT_OF_CALLER else types.INTERNAL_ERROR
        raise MCPError(code, error["message"], outcome.body)
    return outcome.body

"""A small deterministic agent: it reads lists of tools, answers and errors as a model would, and knows nothing else.

A task is JSON: `asks` in a person's words, and `steps`. A step has `call`, a tool as a skill names it, or `wants`, what
the agent is after: it then takes the listed tool whose text shares most with these words, among those that take its
`arguments`. A tool that the client does not list cannot be called. `finds` is what the answer must have: JSON
Pointers, in which `*` stands for each item of a list, each with what stands there; an object is a condition: `least`
and `most` of a number or a length, `has` of a text or a list, `is` of a type. `takes` names values for later steps,
which write them as `{name}`. `agrees` names arguments that a person says yes to: where an error names one of them, as
in "confirm: true", the agent gives it and calls again. Other errors are answers.

`lists` is which tools the client asked for; `faults` are those of the local NCBI, `retracts` names papers that were
retracted meanwhile, and `empty` is true where nothing was installed before.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.client import Client

TASKS = Path(__file__).parents[1] / "data/skill_tasks"
WITHOUT_A_SKILL = "without-a-skill"
TYPES = {"text": str, "list": list, "number": (int, float), "null": type(None)}
BYTES_A_TOKEN = 4
FEW = frozenset(
    "a an and are as at be by for from in is it its of on or that the their there this to was what with".split()
)

Task = Mapping[str, Any]


def tasks_of(skill: str) -> list[dict[str, Any]]:
    """The tasks of a skill."""
    tasks: list[dict[str, Any]] = json.loads((TASKS / f"{skill}.json").read_text(encoding="utf-8"))
    return tasks


@dataclass
class Played:
    """What a task took: calls, and bytes of the list of tools, of what the agent sent and of what it read.

    `wrong` is the step that failed, and what was otherwise than it should be; "" where the task was done.
    """

    asks: str
    calls: int = 0
    listed: int = 0
    exchanged: int = 0
    wrong: str = ""

    @property
    def tokens(self) -> int:
        """Of what was sent and read, the list of tools apart."""
        return self.exchanged // BYTES_A_TOKEN


async def play(task: Task, client: Client, known: Mapping[str, Any]) -> Played:
    """Play a task, until its end or the first step that fails; `known` are names that its steps may write."""
    tools = (await client.list_tools()).tools
    played = Played(task["asks"], listed=sum(map(_size, tools)))
    taken = dict(known)
    for number, step in enumerate(task["steps"], 1):
        arguments = filled(step.get("arguments", {}), taken)
        name = step.get("call") or chosen(step["wants"], arguments, tools)
        if name not in {each.name for each in tools}:
            played.wrong = f"step {number}: no listed tool does it: {step.get('call') or step['wants']}"
            return played
        body = await _called(client, name, arguments, step.get("agrees", ()), played)
        wrong = [f"{place} is {at(body, place)!r}, not {want!r}" for place, want in unmet(body, step["finds"])]
        if wrong:
            played.wrong = f"step {number}, {name}({arguments}): {'; '.join(wrong)}\n{json.dumps(body)[:3_000]}"
            return played
        taken |= {name: at(body, place) for name, place in step.get("takes", {}).items()}
    return played


async def _called(
    client: Client, name: str, arguments: Mapping[str, Any], agrees: Sequence[str], played: Played
) -> dict[str, Any]:
    given = dict(arguments)
    while True:
        played.calls += 1
        played.exchanged += len(json.dumps({"name": name, "arguments": given}).encode())
        result = await client.call_tool(name, given)
        played.exchanged += sum(
            len(each.text.encode()) for each in result.content if isinstance(each, types.TextContent)
        )
        body = result.structured_content or {}
        message = body["error"]["message"] if result.is_error and "error" in body else ""
        named = re.findall(r"\b(\w+): true\b", message)
        if not (more := [each for each in named if each in agrees and each not in given]):
            return body
        given |= dict.fromkeys(more, True)


def chosen(wants: str, arguments: Mapping[str, Any], tools: Sequence[types.Tool]) -> str:
    """The tool whose text shares most with what is wanted, of those that take the arguments; "" where none does.

    A word counts by how few tools have it; of two that share as much, the shorter text wins.
    """
    texts = {each.name: Counter(_words(_text(each))) for each in tools}
    having = Counter(word for words in texts.values() for word in words)
    asked = set(_words(wants))
    scores = {
        each.name: sum(log(1 + len(tools) / having[word]) for word in asked if word in texts[each.name])
        for each in tools
        if arguments.keys() <= each.input_schema.get("properties", {}).keys()
        and set(each.input_schema.get("required", ())) <= arguments.keys()
    }
    return max(scores, key=lambda name: (scores[name], -texts[name].total()), default="")


def _text(tool: types.Tool) -> str:
    described = [each.get("description", "") for each in tool.input_schema.get("properties", {}).values()]
    return " ".join([tool.name, tool.description or "", *described])


def _words(text: str) -> Iterator[str]:
    """The words of a text, without endings and the commonest ones; names of tools are split."""
    for word in re.findall(r"[A-Z]?[a-z]+", text.replace("_", " ")):
        stem = re.sub(r"(?<=...)(?:ing|ions?|ed|es|s|e)$", "", word.lower())
        if word.lower() not in FEW:
            yield stem


def _size(shown: types.Tool) -> int:
    return len(shown.model_dump_json(by_alias=True, exclude_none=True).encode())


def filled(value: Any, taken: Mapping[str, Any]) -> Any:
    """`value` with what earlier steps took in the place of `{name}`."""
    if isinstance(value, dict):
        return {key: filled(each, taken) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, taken) for each in value]
    if isinstance(value, str) and value.startswith("{") and value[1:-1] in taken:
        return taken[value[1:-1]]
    for name, each in taken.items() if isinstance(value, str) else ():
        value = value.replace(f"{{{name}}}", str(each))
    return value


def unmet(body: Any, finds: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The places of an answer at which something else stands than is wanted."""
    for place, want in finds.items():
        there = at(body, place)
        met = meets(there, want) if isinstance(want, dict) else there == want
        if not met:
            yield place, want


def at(body: Any, place: str) -> Any:
    """What stands at a JSON Pointer; "absent" where nothing does."""
    before, each_item, after = place.partition("/*")
    if each_item:
        items = at(body, before)
        return [at(item, after) for item in items] if isinstance(items, list) else "absent"
    for key in place.split("/")[1:]:
        try:
            body = body[int(key)] if isinstance(body, list) else body[key]
        except (KeyError, IndexError, TypeError, ValueError):
            return "absent"
    return body


def meets(there: Any, conditions: Mapping[str, Any]) -> bool:
    """Whether what stands there meets every condition."""
    size = there if isinstance(there, int | float) else len(there or "")
    judged = {
        "least": lambda want: there != "absent" and size >= want,
        "most": lambda want: there != "absent" and size <= want,
        "has": lambda want: want in (there or ""),
        "is": lambda want: there != "absent" and isinstance(there, TYPES[want]),
    }
    return all(judged[name](want) for name, want in conditions.items())

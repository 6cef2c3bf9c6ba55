"""Plays the scripted tasks of skills: calls in the order in which a skill asks for them, and what must come of each.

A task is JSON: `asks` in a person's words, and `steps`. A step has `call` (a tool as clients name it), `arguments`, and
`finds`: JSON Pointers into the answer, in which `*` stands for each item of a list, each with what stands there. Where
that is an object, it is a condition: `least` and `most` of a number or a length, `has` of a text or a list, `is` of a
type. `takes` names values for later steps, which write them as `{name}`. `faults` are those of the local NCBI, and
`retracts` names papers that were retracted meanwhile.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mcp.client import Client

TASKS = Path(__file__).parents[1] / "data/skill_tasks"
TYPES = {"text": str, "list": list, "number": (int, float), "null": type(None)}


def tasks_of(skill: str) -> list[dict[str, Any]]:
    """The tasks of a skill."""
    tasks: list[dict[str, Any]] = json.loads((TASKS / f"{skill}.json").read_text(encoding="utf-8"))
    return tasks


async def play(task: Mapping[str, Any], client: Client) -> None:
    """Play a task. Raises `AssertionError` that names the step and what is otherwise than it should be."""
    taken: dict[str, Any] = {}
    for number, step in enumerate(task["steps"], 1):
        arguments = filled(step.get("arguments", {}), taken)
        result = await client.call_tool(step["call"], arguments)
        body = result.structured_content or {}
        wrong = [f"{place} is {at(body, place)!r}, not {want!r}" for place, want in unmet(body, step["finds"])]
        assert not wrong, f"step {number}, {step['call']}({arguments}): {'; '.join(wrong)}\n{json.dumps(body)[:3_000]}"
        taken |= {name: at(body, place) for name, place in step.get("takes", {}).items()}


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
        return [at(item, after) for item in at(body, before)]
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

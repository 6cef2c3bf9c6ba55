"""Length of an answer. A model reads every character, and its user pays for it.

An answer has whole records, the first ones, and says how to get the rest: by `max_characters` or, of a list that goes
on, by a cursor. The first record is returned at any length, so that a client that asks again for what was left out
makes progress.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, Field, model_validator

from bio_mcp.tool import Response, unpublished

DEFAULT = 60_000  # characters of an answer's JSON, some 15,000 tokens
AUDIT = 500  # characters of the audit record of its call, which an answer may carry
NEXT_STEP = 150  # of the line on what to call next, which it may carry too
LEAST, MOST = 1_000, 1_500_000  # twice in one MCP result, and escaped, the most is 5 of Lambda's 6 MB
WARNINGS = 10_000  # characters of an answer's warnings


def _bare(schema: dict[str, Any]) -> None:
    """Leave the limits of a length, and its default, to docs/lists.md."""
    unpublished(schema)
    schema.pop("minimum", None)


MaxCharacters = Annotated[int, Field(ge=LEAST, le=MOST, json_schema_extra=_bare)]
Cursor = Annotated[str, Field(pattern=r"^[0-9]{1,9}$", description="next_cursor of an answer")]

Answer = TypeVar("Answer", bound=BaseModel)


class MayBePartial(Response):
    """An answer that is partial where something is missing, and says why. When a service fails at the whole, the call
    fails."""

    status: Literal["complete", "partial"] = "complete"
    reasons: list[str] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _status_of_its_reasons(cls, given: dict[str, Any]) -> dict[str, Any]:
        return {"status": "partial" if given.get("reasons") else "complete", **given}


def length(answer: BaseModel) -> int:
    """Characters of the JSON that a client receives."""
    return len(answer.model_dump_json(exclude_unset=True))


def within(
    answer: Answer,
    field: str,
    most: int = DEFAULT,
    advice: str = "",
    more: Callable[[Sequence[Any]], dict[str, Any]] | None = None,
) -> Answer:
    """Cut the list `field` of `answer` to the first records that fit in `most` characters.

    What counts them, `count` and `left_out`, is put right. With `advice` a shortened answer is partial, and its reasons
    end with that. `more` is called with the records left out, and returns further fields that change when they are.
    """
    records: list[BaseModel] = getattr(answer, field)
    most -= NEXT_STEP
    if length(answer) <= most or not records:
        return answer

    def changed(rest: Sequence[Any]) -> dict[str, Any]:
        counts = {"count": len(records) - len(rest), "left_out": getattr(answer, "left_out", 0) + len(rest)}
        fields = {name: number for name, number in counts.items() if name in type(answer).model_fields}
        fields |= partial(getattr(answer, "reasons", ()), rest, advice) if advice else {}
        return fields | (more(rest) if more else {})

    room = most - length(answer.model_copy(update={field: [], **changed(records)}))
    fits = fitting([length(each) + 1 for each in records], room)
    if fits == len(records):
        return answer
    return answer.model_copy(update={field: records[:fits], **changed(records[fits:])})


def some(sentences: Iterable[str], most: int = WARNINGS) -> list[str]:
    """The first sentences, of `most` characters at most; the last one then counts those that are left out."""
    every = list(sentences)
    fits = fitting([len(each) for each in every], most) if every else 0
    more = [f"{len(every) - fits} more of these are left out."] if fits < len(every) else []
    return [*(each[:most] for each in every[:fits]), *more]


def partial(reasons: Sequence[str], left_out: Sequence[Any], advice: str) -> dict[str, Any]:
    """The fields of a shortened answer: its status, why it is partial, and what to do."""
    what = f"{len(left_out)} more did not fit in the length of the answer"
    return {"status": "partial", "reasons": [*reasons, f"{what}; {advice}"]}


def fitting(lengths: Sequence[int], room: int) -> int:
    """The number of leading `lengths` that fit in `room`; the first always counts as fitting."""
    for place, each in enumerate(lengths):
        room -= each
        if room < 0 and place:
            return place
    return len(lengths)

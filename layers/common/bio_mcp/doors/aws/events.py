"""Events on AWS: each calls a tool or reads a resource."""

from typing import Any

from pydantic import Field, ValidationError

from bio_mcp.callers import Caller
from bio_mcp.errors import InvalidInput
from bio_mcp.tool import Request

MARGIN_S = 1.5  # of Lambda's time, for writing the answer


class EventCaller(Request):
    """Whom a call is for."""

    subject: str
    scopes: list[str] = Field(default_factory=list)
    tenant: str = ""
    client: str = ""

    @property
    def caller(self) -> Caller:
        """As it was sent."""
        return Caller(self.subject, frozenset(self.scopes), self.tenant, self.client)


class Event(Request):
    """Exactly one of `tool` and `resource`."""

    tool: str | None = None
    arguments: dict[str, Any] = Field(default_factory=dict)
    resource: str | None = None
    correlation_id: str | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    outcome: bool = False
    caller: EventCaller | None = None

    @property
    def on_behalf_of(self) -> Caller | None:
        """Whom the call is for; None where no token was needed."""
        return self.caller.caller if self.caller else None


def parse(event: Any) -> Event:
    """Read an event. Raises `InvalidInput` for what names neither a tool nor a resource, or both."""
    shape = 'an event is {"tool": name, "arguments": {...}} or {"resource": uri}'
    try:
        parsed = Event.model_validate(event)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        sentences = [f"{'.'.join(map(str, each['loc'])) or 'event'}: {each['msg']}" for each in problems]
        raise InvalidInput(f"{shape}; {'; '.join(sentences)}") from None
    if (parsed.tool is None) == (parsed.resource is None):
        raise InvalidInput(shape)
    return parsed

"""What long pieces of work leave behind, for whoever goes on with them."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(slots=True)
class Job:
    """A long piece of work. `cursor` is what a later run needs to go on; `progress` is for people.

    `state`: running, waiting (will be continued), stalled (until somebody asks for it anew), succeeded, failed,
    cancelled. `progress` of a sync: processed, expected, error (why its last run ended early), reported (somebody has
    been given its result).
    """

    job_id: str
    kind: str
    state: str
    created: datetime
    updated: datetime
    request: dict[str, Any] = field(default_factory=dict)
    cursor: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)

    @property
    def unfinished(self) -> bool:
        """Whether there is work left that somebody may take up."""
        return self.state in {"running", "waiting", "stalled"}


@dataclass(frozen=True, slots=True)
class Project:
    """Literature that somebody works with. `collection` names its passages, `references` the file of its citations.

    `embed_model` made its vectors; `hybrid_enabled` says whether it is searched by words as well.
    """

    project_id: str
    collection: str
    embed_model: str
    hybrid_enabled: bool = True
    references: str | None = None

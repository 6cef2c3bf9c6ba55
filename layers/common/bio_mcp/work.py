"""What long pieces of work leave behind, for whoever goes on with them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bio_mcp.literature.clock import later


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a named query has been synced. `last_edat` is ISO 8601 UTC.

    `windows` holds one watermark per date field ("edat", "crdt", "mdat"): a day in US Eastern, YYYY-MM-DD.
    """

    query_key: str
    last_edat: str | None = None
    windows: Mapping[str, str] = field(default_factory=dict)

    def advanced(self, last_edat: str | None, windows: Mapping[str, str]) -> "Checkpoint":
        """This checkpoint with each watermark moved forward that is later there; none moves back."""
        later_days = {name: later(self.windows.get(name), day) or day for name, day in windows.items()}
        return Checkpoint(self.query_key, later(self.last_edat, last_edat), {**self.windows, **later_days})


@dataclass(slots=True)
class Job:
    """A long piece of work. `cursor` is what a later run needs to go on; `progress` is for people.

    `state`: running, waiting (will be continued), succeeded, failed.
    """

    job_id: str
    kind: str
    state: str
    created: datetime
    updated: datetime
    request: dict[str, Any] = field(default_factory=dict)
    cursor: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)


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

"""Skills: procedures for an agent that has this product's tools, each a directory with a SKILL.md (agentskills.io).

They are served over MCP, put into prompts, copied by `bio-mcp skill install`, and part of the plugins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

FILE = "SKILL.md"
NAMES = ("answer-clinical-question", "systematic-search", "keep-topic-current", "check-references")


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill of one file. `content` is the file as it stands, in bytes."""

    name: str
    content: bytes

    @property
    def front_matter(self) -> Mapping[str, str]:
        """The fields above the text, `name` and `description` among them: one line each, of plain YAML scalars."""
        fields = (line.partition(": ") for line in self._parts[0].splitlines())
        return {name: value for name, _, value in fields}

    @property
    def text(self) -> str:
        """The procedure itself, in Markdown."""
        return self._parts[1]

    @property
    def _parts(self) -> tuple[str, str]:
        _, fields, text = self.content.decode().split("---\n", 2)
        return fields, text.strip()


@cache
def skill(name: str) -> Skill:
    return Skill(name, resources.files(__name__).joinpath(name, FILE).read_bytes())


def all_skills() -> list[Skill]:
    return [skill(each) for each in NAMES]

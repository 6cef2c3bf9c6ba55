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
    """A skill of one file. `content` is the file as it stands, `text` the procedure itself, in Markdown.

    `front_matter` has the fields above it, `name` and `description` among them: one line each, of plain YAML scalars.
    """

    name: str
    content: bytes
    front_matter: Mapping[str, str]
    text: str


@cache
def skill(name: str) -> Skill:
    content = resources.files(__name__).joinpath(name, FILE).read_bytes()
    _, above, text = content.decode().split("---\n", 2)
    fields = (line.partition(": ") for line in above.splitlines())
    return Skill(name, content, {name: value for name, _, value in fields}, text.strip())

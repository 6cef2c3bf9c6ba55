"""Prompts: what a person may ask for by name, as a slash command. Each is a skill with the person's own words."""

from collections.abc import Mapping
from dataclasses import dataclass

from bio_mcp.errors import InvalidInput
from bio_mcp.skills import skill
from bio_mcp.untrusted import neutral

LONGEST = 4_000  # characters of an argument


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
        if len(value) > LONGEST:
            raise InvalidInput(f"{argument.name} is longer than {LONGEST:,} characters")
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

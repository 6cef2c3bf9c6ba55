"""Which tools a list has: those of the default list, all, those of families, single ones, in any mixture.

A tool that is not listed can be called all the same.
"""

from collections.abc import Iterable, Sequence

from bio_mcp.errors import InvalidInput
from bio_mcp.tool import Tool, by_any_name

DEFAULT, ALL = "default", "all"


def words_of(text: str) -> tuple[str, ...]:
    """The words of a list with commas."""
    return tuple(word.strip() for word in text.split(",") if word.strip())


def chosen(tools: Sequence[Tool], asked: Iterable[str]) -> dict[str, bool]:
    """The names of the tools that `asked` names, each with whether it is asked for by more than the word `default`.

    A word is `default`, `all`, a family or a tool, by any of its names. Raises `InvalidInput` that names the choices.
    """
    by_word = _words(tools)
    by_name = by_any_name(tools)
    found: dict[str, bool] = {}
    for word in asked:
        if word not in by_word and word not in by_name:
            known = ", ".join(by_word)
            raise InvalidInput(f"there is no tool or family {word[:50]!r}; tools takes {known}, and names of tools")
        for tool in by_word[word] if word in by_word else [by_name[word]]:
            found[tool.name] = found.get(tool.name, False) or word != DEFAULT
    return found


def more(tools: Iterable[Tool]) -> str:
    """How to have the tools that the default list leaves out."""
    families = ",".join(dict.fromkeys(each.family.name for each in tools if not each.family.by_name_only))
    return f"More tools: the user connects with ?tools=all (stdio: --tools all), or some of {families}."


def _words(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    """What a word stands for that is not the name of a tool."""
    words = {
        DEFAULT: [each for each in tools if each.in_default_list],
        ALL: [each for each in tools if not each.family.by_name_only],
    }
    for each in tools:
        words.setdefault(each.family.name, []).append(each)
    return words

"""Rewords tools' messages for the command line: commands and options instead of tools and their arguments."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

ARGUMENTS = {
    "doc_id": "PMID",
    "sourcePmid": "PMID",
    "pmids": "PMIDS",
    "query": "QUERY",
    "question": "QUESTION",
    "quote": "QUOTE",
    "text": "TEXT",
    "project": "ID",
    "source": "SOURCE",
    "references_path": "--references",
    "term": "TERM",
    "queryTerm": "TERM",
    "query_key": "QUERY_KEY",
    "last_edat": "TIME",
    "herb_ids": "HERBS",
    "formulation_ids": "--formulation",
    "ids": "IDS",
    "id": "ID",
    "maxResults": "--max",
    "maxRelatedResults": "--max",
    "maxCharacters": "--max",
    "fetchBriefSummaries": "--summaries",
    "sortBy": "--sort",
    "dateType": "--date",
    "detailLevel": "--as",
    "relationshipType": "--kind",
    "citationStyles": "--style",
    "moreStyles": "--style",
    "includeTables": "--tables",
    "dateRange": "--from and --to",
    "minDate": "--from",
    "maxDate": "--to",
    "filterByPublicationTypes": "--type",
    "sections": "--section",
    "firstPage": "--page",
    "top_k": "--top-k",
    "max_depth": "--max-depth",
    "max_characters": "--max-characters",
    "year_from": "--year-from",
    "year_to": "--year-to",
    "publication_types": "--publication-types",
    "quality_bias": "--quality-bias",
    "group_by_doc": "--group-by-doc",
    "overlap_days": "--overlap-days",
    "max_records": "--max-records",
}
_NO_WORDS = [name for name in ARGUMENTS if "_" in name or not name.islower()]  # unambiguous in a sentence
_PATH = re.compile(r"(?:^|(?<=; ))([A-Za-z_][\w.]*)(?=: )")
_ARGUMENT = re.compile(rf"(?<![\w.-])(?:[A-Za-z]+\.)?({'|'.join(_NO_WORDS)})\b")


@cache
def _commands() -> tuple[Mapping[str, str], re.Pattern[str]]:
    """The command of each tool by its names, and a pattern that finds those names; made when a message may have one."""
    from bio_mcp.catalog import TOOLS

    commands = {name: f"bio-mcp {tool.command}" for tool in TOOLS.values() for name in tool.names if tool.command}
    named = "|".join(map(re.escape, sorted(commands, key=len, reverse=True)))
    return commands, re.compile(rf"`?(?<![\w.])({named})\b`?")


def for_commands(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with its error, reason, reasons and warnings reworded for the command line; the rest as it is.

    Only an error names the path of an argument: a warning may begin with the name of a file.
    """
    worded: dict[str, Any] = {
        name: [_in_commands(sentence) for sentence in body[name]] for name in ("reasons", "warnings") if name in body
    }
    if "reason" in body:
        worded["reason"] = _in_commands(body["reason"])
    if "error" in body:
        worded["error"] = {**body["error"], "message": in_commands(body["error"]["message"])}
    return {**body, **worded}


def in_commands(sentence: str) -> str:
    """The message of an error with tools named as commands, and their arguments as options."""
    return _in_commands(_PATH.sub(lambda match: _argument(match[1]), sentence))


def _in_commands(sentence: str) -> str:
    commands, tool = _commands()
    named = tool.sub(lambda match: f"`{commands[match[1]]}`", sentence)
    return _ARGUMENT.sub(lambda match: ARGUMENTS[match[1]], named)


def option(name: str) -> str:
    """The command-line name of a field of a tool's input: an option, or an argument in capitals."""
    return ARGUMENTS.get(name) or "--" + re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).replace("_", "-").lower()


def _argument(path: str) -> str:
    """The option or argument of a path: "filters.journals.0" is --journals, "pmids.0" is PMIDS."""
    return option([part for part in path.split(".") if not part.isdecimal()][-1])

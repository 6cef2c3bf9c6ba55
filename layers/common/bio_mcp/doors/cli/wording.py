"""What tools say, in the words of the command line: commands and options instead of tools and their arguments."""

import re
from collections.abc import Mapping
from typing import Any

COMMANDS = {
    "pubmed.sync_delta": "bio-mcp sync",
    "rag.search": "bio-mcp search",
    "rag.get": "bio-mcp get",
    "corpus.checkpoint.get": "bio-mcp checkpoint get",
    "corpus.checkpoint.set": "bio-mcp checkpoint set",
    "corpus.queries": "bio-mcp queries list",
    "searchPubMedArticles": "bio-mcp pubmed search",
    "fetchArticleDetails": "bio-mcp pubmed fetch",
    "getArticleRelationships": "bio-mcp pubmed related",
    "lookupMeshTerms": "bio-mcp lookup mesh",
    "checkSpelling": "bio-mcp lookup spell",
    "matchCitations": "bio-mcp lookup match",
    "convertArticleIds": "bio-mcp lookup ids",
    "getFullText": "bio-mcp lookup text",
    "getBookRecord": "bio-mcp lookup book",
}
ARGUMENTS = {
    "doc_id": "PMID",
    "sourcePmid": "PMID",
    "pmids": "PMIDS",
    "query": "QUERY",
    "term": "TERM",
    "queryTerm": "TERM",
    "query_key": "QUERY_KEY",
    "last_edat": "TIME",
    "ids": "IDS",
    "id": "ID",
    "maxResults": "--max",
    "maxRelatedResults": "--max",
    "maxCharacters": "--max",
    "dateRange": "--from and --to",
    "minDate": "--from",
    "maxDate": "--to",
    "filterByPublicationTypes": "--type",
    "sections": "--section",
    "firstPage": "--page",
    "top_k": "--top-k",
    "max_characters": "--max-characters",
    "year_from": "--year-from",
    "year_to": "--year-to",
    "publication_types": "--publication-types",
    "quality_bias": "--quality-bias",
    "group_by_doc": "--group-by-doc",
    "overlap_days": "--overlap-days",
}
_BY_NAME = COMMANDS | {name.replace(".", "_"): command for name, command in COMMANDS.items()}
_NO_WORDS = [name for name in ARGUMENTS if "_" in name or not name.islower()]  # they mean nothing else in a sentence
_TOOL = re.compile(rf"`?(?<![\w.])({'|'.join(map(re.escape, _BY_NAME))})\b`?")
_PATH = re.compile(r"(?:^|(?<=; ))([A-Za-z_][\w.]*)(?=: )")
_ARGUMENT = re.compile(rf"(?<![\w.-])(?:[A-Za-z]+\.)?({'|'.join(_NO_WORDS)})\b")


def for_commands(body: Mapping[str, Any]) -> dict[str, Any]:
    """The answer with its error, reasons and warnings in the words of the command line; the rest as it is."""
    worded: dict[str, Any] = {
        name: [in_commands(each) for each in body[name]] for name in ("reasons", "warnings") if name in body
    }
    if "error" in body:
        worded["error"] = {**body["error"], "message": in_commands(body["error"]["message"])}
    return {**body, **worded}


def in_commands(sentence: str) -> str:
    """The sentence with tools named as commands, their arguments as a command's."""
    named = _TOOL.sub(lambda found: f"`{_BY_NAME[found[1]]}`", sentence)
    placed = _PATH.sub(lambda found: _argument(found[1]), named)
    return _ARGUMENT.sub(lambda found: ARGUMENTS[found[1]], placed)


def _argument(path: str) -> str:
    """ "filters.journals.0" is --journals, "pmids.0" PMIDS."""
    name = [part for part in path.split(".") if not part.isdecimal()][-1]
    return ARGUMENTS.get(name) or "--" + name.replace("_", "-")

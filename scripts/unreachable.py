"""Name what nothing can reach, for `make check`: functions, classes, methods, attributes and constants.

vulture looks for names in the package, the entry points of the functions and the scripts. Tests and benchmarks do not
count: what only they use belongs to them. What is used by its name from outside is told apart here, with the reason.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

from pydantic import BaseModel
from vulture.core import Item, Vulture

from bio_mcp.literature import records
from bio_mcp.settings import Settings
from bio_mcp.tool import Tool

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "layers/common/bio_mcp"
SOURCES = [PACKAGE, ROOT / "functions", ROOT / "scripts"]
CALLED_BY_DECORATORS = [
    "@tool",
    "@live_tool",
    "@reading_tool",
    "@resource",
    "@*.command",
    "@field_validator",
    "@model_validator",
]

ALLOWED = {
    "esearch_delta": "a name of the bio-mcp contract",
    "esummary_batch": "a name of the bio-mcp contract",
    "lr": "a field of the contract's DocSummary",
    "normalised": "a part of a model's fingerprint, which is of all fields",
    "tokenizer_sha256": "a part of a model's fingerprint, which is of all fields",
    "inter_op_num_threads": "read by onnxruntime",
    "intra_op_num_threads": "read by onnxruntime",
    "log_severity_level": "read by onnxruntime",
    "enable_automatic_graceful_drain": "read by sse-starlette",
    "should_exit": "read by uvicorn",
    "raiseExceptions": "read by logging",
    "commenters": "read by shlex",
    "whitespace_split": "read by shlex",
    "model_config": "read by pydantic",
    "field_title_should_be_set": "called by pydantic",
    "format_commands": "called by click",
    "log_request_fail": "called by opensearch-py",
    **dict.fromkeys(
        (
            "validate_redirect_uri",
            "validate_scope",
            "register_client",
            "load_authorization_code",
            "exchange_authorization_code",
            "exchange_refresh_token",
            "exchange_identity_assertion",
        ),
        "called by the MCP SDK's handlers of OAuth",
    ),
    "handle_starttag": "called by html.parser",
    "handle_endtag": "called by html.parser",
    "handle_data": "called by html.parser",
    "color": "a field of Zotero's annotations, of which an item's state is made",
    "item_type": "a field of Zotero's items, of which their state is made",
    **dict.fromkeys(
        "full_name is_date is_numerical is_hidden db_to citation_count citations_per_year relative_citation_ratio "
        "is_provisional is_clinical asserted_by overlap_low overlap_high derivation explanation scope_note menu_name "
        "rescored".split(),
        "read by the name of a field of an answer",
    ),
}


def unused(sources: Iterable[Path]) -> list[Item]:
    """Everything but imports, which ruff sees to, that vulture finds no use of."""
    search = Vulture(ignore_decorators=CALLED_BY_DECORATORS)
    search.scavenge([str(each) for each in sources])
    found: list[Item] = search.get_unused_code()
    return [each for each in found if each.typ != "import"]


def unreachable(sources: Iterable[Path]) -> Iterator[str]:
    """A line for each thing that nothing reaches."""
    stored = _stored()
    for each in unused(sources):
        if each.name not in ALLOWED and each.name not in stored and not _is_field_of_a_model(each):
            yield f"{each.filename}:{each.first_lineno}: nothing reaches the {each.typ} {each.name}"


def _stored() -> set[str]:
    """What is reached by name: a record is stored whole, a setting is asked for as `needed(name)`, the options of a
    tool are given by name, and the tables of the wiring name adapters as "module:Class"."""
    kinds = [Settings, Tool, *filter(is_dataclass, vars(records).values())]
    tables = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "wiring").glob("*.py"))
    return {field.name for kind in kinds for field in fields(kind)} | set(re.findall(r'"bio_mcp[.\w]+:(\w+)', tables))


def _is_field_of_a_model(item: Item) -> bool:
    """Whether clients send it or read it: a field of a tool's input or output."""
    path = Path(item.filename)
    if not path.is_relative_to(PACKAGE):
        return False
    module = import_module(".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"))
    kinds = [each for each in vars(module).values() if isinstance(each, type) and issubclass(each, BaseModel)]
    return any(item.name in kind.model_fields for kind in kinds)


def main() -> int:
    """Print what nothing reaches, and what is allowed without need; returns the exit code."""
    needless = ALLOWED.keys() - {each.name for each in unused(SOURCES)}
    found = [*unreachable(SOURCES), *(f"{name} is reached: it need not be allowed" for name in sorted(needless))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

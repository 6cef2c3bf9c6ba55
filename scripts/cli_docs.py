"""docs/cli.md: every command of the command line, read off click's declarations."""

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import click

from bio_mcp.doors.cli.program import bio_mcp

INTRO = """\
Settings come from the environment: [settings.md](settings.md). Every command that answers takes `--json` and then
prints one JSON document on standard output, failures included; what a tool's answer holds is in [tools.md](tools.md).
Warnings and errors go to standard error. Exit codes: 0 done, 1 failed, 2 called wrongly, 130 interrupted. An argument
of several words needs no quotation marks, except for what means something to the shell. `--help` explains a command.
"""
EXAMPLES: Mapping[str, str] = MappingProxyType(
    {
        "admin letters show": "q-2f1c9a",
        "mcp-config": "--client claude-code --write",
        "serve": "--port 3011",
        "admin models add": "pubmedbert-embeddings/",
        "token": "--subject ada --days 30 --scope bio:read",
        "admin invite": "--subject ann --scopes read,live",
        "admin client": "--name Claude",
        "admin people": "--subject ann --revoke",
        "import": "pubmed26n1300.xml.gz",
        "sync": 'osteoarthritis "osteoarthritis[tiab] AND 2021/06[dp]"',
        "search": "vitamin D and COVID-19 --year-from 2020 --publication-types meta-analysis",
        "get": "27602157 34093119",
        "answer": "does exercise lower blood pressure?",
        "admin call": """rag_search '{"query": "acupuncture against migraine", "top_k": 3}'""",
        "pubmed search": '"pulse oximetry OR newborn" --from 2010 --max 5',
        "pubmed fetch": "15550987 --as medline",
        "pubmed related": "15550987 --kind citedin --max 5",
        "pubmed cite": "15550987 33393208 --style vancouver",
        "check-refs": "manuscript.docx --format markdown --fail-on retracted,not_found",
        "pubmed mesh": "heart attack --max 3",
        "pubmed spell": "asthmaa",
        "pubmed ids": "PMC3531190 10.1093/nar/gks1195",
        "pubmed match": '--journal "N Engl J Med" --year 2020 --page 2603 --author Polack',
        "pubmed text": "PMC3531190 --section methods --max 20000",
        "pubmed book": "NBK1247",
        "ingest": "lab/heart-failure papers/ --references library.json",
        "projects create": "lab/heart-failure",
        "projects inspect": "lab/heart-failure --sample 2",
        "projects delete": "lab/heart-failure --yes",
        "projects search": "lab/heart-failure what lowers mortality? --tags review --top-k 3",
        "projects documents": "lab/heart-failure --incomplete",
        "projects edit": "lab/heart-failure doe_2020_hearts --year 2021 --author 'Doe J' --author 'Roe R'",
        "projects locate": "ten thousand healthy newborns were measured --project lab/heart-failure",
        "kg import": "--sample",
        "kg show": "ขมิ้นชัน",
        "kg paths": "turmeric --pattern 'herb>constituent>indication'",
        "kg contraindications": "turmeric ขิง --formulation F1",
        "projects parse": "paper.pdf --ocr-languages deu,eng",
        "news": "osteoarthritis --since 2026-11-01",
        "admin queries list": "osteoarthritis",
        "admin queries remove": "osteoarthritis --yes",
        "admin checkpoint get": "osteoarthritis",
        "admin checkpoint set": "osteoarthritis 2024-06-02T00:00:00Z",
        "review create": 'statins --criteria "statins heart failure"',
        "review import": "statins embase.csv",
        "review collect": """statins --term 'statins[ti] AND "heart failure"[ti]'""",
        "review list": "statins --show include --stage full_text",
        "review next": "statins --by ann",
        "review status": "statins",
        "review conflicts": "statins --stage full_text",
        "review duplicates": "statins --all",
        "review label": 'statins 34093119 exclude --by ann --reason "no adults"',
        "review resolve": "statins 34093119 include --by cem",
        "review prisma": "statins -o flow.svg",
        "review export": "statins -o statins.ris",
        "doctor": "--ncbi",
    }
)
DEFAULT = re.compile(r"\s*\[default: (.*)\]$")
WORDS = {"True": "yes", "False": "no"}


def commands() -> Iterator[tuple[str, click.Context]]:
    """Every command and group below `bio-mcp`: its words, and a context that knows them."""
    with click.Context(bio_mcp, info_name="bio-mcp") as top:
        yield from _below(top, bio_mcp, ())


def _below(context: click.Context, group: click.Group, words: Sequence[str]) -> Iterator[tuple[str, click.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield " ".join([*words, name]), inner
        if isinstance(command, click.Group):
            yield from _below(inner, command, [*words, name])


def options(command: click.Command) -> list[click.Option]:
    """Its options, but for those that no user sets."""
    return [each for each in command.params if isinstance(each, click.Option) and not each.hidden]


def cli_page() -> str:
    """docs/cli.md without the mark of a generated page: its title, what holds for all commands, a section for each."""
    sections = [_section(words, context) for words, context in commands()]
    return "\n".join([INTRO, *sections])


def _section(words: str, context: click.Context) -> str:
    command = context.command
    head = f"{'###' if ' ' in words else '##'} bio-mcp {words}\n"
    if isinstance(command, click.Group):
        return f"{head}\n{_help(command)}\n"
    usage = " ".join(["bio-mcp", words, *command.collect_usage_pieces(context)])
    rows = [_row(each, context) for each in options(command)]
    example = f"\nFor example `bio-mcp {words} {EXAMPLES[words]}`.\n" if words in EXAMPLES else ""
    return f"{head}\n{_help(command)}\n\n```text\n{usage}\n```\n{_options(rows)}{example}"


def _help(command: click.Command) -> str:
    paragraphs = re.split(r"\n\s*\n", (command.help or "").strip())
    return "\n\n".join(" ".join(each.split()) for each in paragraphs)


def _options(rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [("option", "takes", "default", "meaning"), ("---",) * 4, *rows]
    return "\n" + "".join(f"| {' | '.join(each.replace('|', chr(92) + '|') for each in line)} |\n" for line in lines)


def _row(option: click.Option, context: click.Context) -> tuple[str, str, str, str]:
    meaning = option.help or ""
    written = DEFAULT.search(meaning)
    shown = written[1] if written else _default(option, context)
    names = ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))
    meaning = DEFAULT.sub("", meaning).rstrip(".")
    return names, _takes(option), WORDS.get(shown, shown), f"{meaning}; required" if option.required else meaning


def _default(option: click.Option, context: click.Context) -> str:
    value = option.get_default(context)
    return str(value) if isinstance(value, int | str) and not option.is_flag else ""


def _takes(option: click.Option) -> str:
    kind = option.type
    several = ", more than once" if option.multiple else ""
    if option.is_flag:
        return ""
    if isinstance(kind, click.Choice):
        return " or ".join(f"`{each}`" for each in kind.choices) + several
    if isinstance(kind, click.IntRange):
        return f"integer, {kind.min} to {kind.max}{several}"
    return f"{kind.name}{several}"

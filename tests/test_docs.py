"""Pages say what the code says: generated ones, the runbook, the changelog, and names of tools in all of them."""

import re
import shlex
from dataclasses import fields
from functools import cache
from pathlib import Path

import click
import pytest

from benchmarks.__main__ import names, recorded
from bio_mcp import __version__
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.cli.inspecting import summary
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.settings import Settings
from bio_mcp.wiring.services import ZOTERO_ORG
from scripts.cli_docs import EXAMPLES, cli_page, commands, options
from scripts.data_protection import stored
from scripts.docs import ROOT, filled, pages, publish
from scripts.template.__main__ import files
from scripts.template.functions import functions
from tests.support.aws_tables import read
from tests.support.aws_template import TEMPLATE, of
from tests.support.named_tools import PORTABLE, calls, camel_case, snake_case, words_of_tools
from tests.support.touched_ports import needed

PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
generated = cache(pages)


def test_each_generated_page_is_up_to_date():
    stale = [path for path, page in generated().items() if (ROOT / path).read_text(encoding="utf-8") != page]
    assert stale == [], "run `make docs`"


def test_what_follows_from_the_functions_is_rendered():
    assert publish(files(functions(needed)), check=True) == 0, "run `make docs`"


def test_every_tool_argument_resource_and_error_code_is_described():
    codes = {code for each in TOOLS.values() for code in each.family.dialect.values()}
    described = [
        *(f"## {each.portable_name} (`{each.name}`)" for each in TOOLS.values()),
        *(f"| `{name}` |" for each in TOOLS.values() for name in each.input.model_fields),
        *(f"### `{uri}`" for uri in RESOURCES),
        *(f"| `{code}` | " for code in codes),
    ]
    assert [each for each in described if each not in generated()["docs/tools.md"]] == []


def test_every_row_of_a_search_has_a_meaning():
    section = generated()["docs/tools.md"].partition("## rag_get")[0]
    rows = [line.split(" | ") for line in section.splitlines() if line.startswith(("| `results", "| `re", "| `warn"))]
    assert len(rows) > 15
    assert [row[0] for row in rows if not row[-1].strip(" |")] == []


def test_a_tool_or_resource_is_summed_up_in_a_whole_sentence():
    for each in (*TOOLS.values(), *RESOURCES.values()):
        assert " ".join(each.description.split()).startswith(summary(each))
        assert summary(each).endswith(".")
        assert summary(each).count("(") == summary(each).count(")")


def test_every_retraction_status_says_what_its_values_mean():
    statuses = " or ".join(f"`{each}`" for each in RetractionStatus)
    rows = [line for line in generated()["docs/tools.md"].splitlines() if statuses in line]
    assert len(rows) > 15
    assert [row for row in rows if "expression of concern" not in row] == []


def test_every_setting_is_described_and_no_default_names_this_machine():
    page = generated()["docs/settings.md"]
    assert all(f"| `{each.metadata['env']}` |" in page for each in fields(Settings))
    assert str(Path.home()) not in page
    assert str(ROOT) not in page


def test_every_tool_has_a_command_on_its_page():
    named = re.findall(r"^\| `(\w+)` \| .* \| `(bio-mcp [\w -]+)` \|$", generated()["docs/tools.md"], re.MULTILINE)
    assert dict(named) == {
        each.portable_name: f"bio-mcp {each.command or f'admin call {each.portable_name}'}" for each in TOOLS.values()
    }


def test_a_link_leads_to_a_file_and_nothing_is_installed_from_a_registry_that_has_it_not():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
        assert [link for link in links if not (page.parent / link).exists()] == [], page
        assert not re.search(r"pip install ['\"]?bio-mcp", text), page


def test_text_between_markers_is_replaced_and_nothing_else():
    page = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
    assert filled(page, "x", "new\n") == "a\n<!-- x -->\nnew\n<!-- /x -->\nb\n"


def test_a_page_without_markers_is_an_error():
    with pytest.raises(ValueError, match="<!-- x -->"):
        filled("a\n", "x", "new\n")


def test_what_a_benchmark_prints_replaces_what_it_printed_before():
    page = "# Benchmarks\n<!-- measured engine -->\n<!-- /measured engine -->\n"
    once = recorded(page, "engine", "p50 3 ms")
    assert "p50 3 ms" in once
    assert "p50 3 ms" not in recorded(once, "engine", "p50 2 ms")
    assert recorded(once, "engine", "p50 3 ms") == once


def test_a_benchmark_without_a_place_on_the_page_is_only_printed():
    page = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert recorded(page, "code", "1,000 modules") == page
    places = re.findall(r"<!-- measured (\w+) -->", page)
    assert set(places) <= set(names())


PACKAGE = ROOT / "layers/common/bio_mcp"


def undescribed(page):
    """Packages that `page` has no paragraph of, and paths in it that are nowhere."""
    packages = [path.parent for path in [*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("*/*/__init__.py")]]
    named = set(re.findall(r"`([\w/]+(?:/|\.\w+))`", page))
    deep = {"adapters", "doors"}  # in others what stands inside goes with the package
    expected = {
        f"{each.relative_to(PACKAGE)}/" for each in packages if each.parent == PACKAGE or each.parent.name in deep
    }
    nowhere = {each for each in named if not any((base / each).exists() for base in (PACKAGE, ROOT))}
    return sorted(expected - named), sorted(each for each in nowhere if "/" in each or each.endswith(".py"))


def test_the_architecture_describes_every_package_and_names_no_path_that_is_gone():
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert undescribed(page) == ([], [])
    assert undescribed(page.replace("`literature/`", "`adapters/gone.py`")) == (["literature/"], ["adapters/gone.py"])
    assert undescribed(page.replace("`doors/auth/`", "")) == (["doors/auth/"], [])


def test_pages_for_readers_stay_readable():
    decisions = (ROOT / "docs/decisions.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| (?!decision|---)", decisions, re.MULTILINE)) <= 150


RUNBOOK = (ROOT / "docs/runbook.md").read_text()
DEPLOYING = (ROOT / "docs/deploying.md").read_text()
METRICS = {each.get("MetricName") for each in of("AWS::CloudWatch::Alarm").values()} | {"HeartbeatLatency"}


def test_parameters_and_outputs_are_called_by_their_names():
    known = TEMPLATE["Parameters"].keys() | TEMPLATE["Outputs"].keys() | TEMPLATE["Resources"].keys()
    beside = [read((ROOT / each).read_text()) for each in ("edge.yaml", "deployer.yaml")]
    known |= METRICS.union(*(each["Parameters"].keys() | each["Outputs"].keys() for each in beside))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-zA-Z0-9]*)+)(?:=[\w/.-]+)?`", RUNBOOK + DEPLOYING))
    assert len(named) > 12
    assert named <= known


def section(title):
    return DEPLOYING.partition(f"# {title}\n")[2].partition("\n#")[0]


def test_what_no_emulator_shows_is_on_the_list_for_a_real_account():
    of_services = "Canary SnapStart KmsKeyArn SecretKmsKeyArn SubnetIds VpcEndpoints CodeSigningConfigArn MonthlyBudget"
    of_others = "BudgetEmail TraceCalls IdpIssuer DomainName LanguageModel OpenSearchService LoadsAtOnce"
    named = set(re.findall(r"`(\w+)", section("What only a real account can prove")))
    assert set(f"{of_services} {of_others}".split()) - named - {"Canary", "SnapStart"} == set()
    assert {"**Canary.**", "**SnapStart**"} <= set(section("What only a real account can prove").split())


def test_the_page_of_data_protection_names_every_store_and_address():
    page = generated()["docs/data-protection.md"]
    kinds = ("AWS::DynamoDB::Table", "AWS::SQS::Queue")
    stores = [name for name, each in TEMPLATE["Resources"].items() if each["Type"] in kinds]
    addresses = [each.default for each in fields(Settings) if str(each.default).startswith("https://")]
    addresses += [Settings().converter_url, ZOTERO_ORG]  # where the setting is empty
    assert len(stores) > 20
    assert len(addresses) > 5
    assert [each for each in (*stores, *addresses) if f"`{each}`" not in page] == []


@pytest.mark.parametrize("kind", ["AWS::DynamoDB::Table", "AWS::SQS::Queue"])
def test_a_store_that_nobody_described_is_an_error(kind):
    more = {"Resources": {**TEMPLATE["Resources"], "More": {"Type": kind, "Properties": {}}}}
    with pytest.raises(LookupError, match="More"):
        list(stored({**TEMPLATE, **more}))


def test_a_store_that_begins_to_forget_is_described_anew():
    table = {"Type": "AWS::DynamoDB::Table", "Properties": {"TimeToLiveSpecification": {}}}
    with pytest.raises(LookupError, match="NewsTable"):
        list(stored({**TEMPLATE, "Resources": {**TEMPLATE["Resources"], "NewsTable": table}}))


def test_what_expires_in_the_bucket_is_gone_a_day_later_and_the_page_says_how_long_deleted_files_stay():
    kept = {where: last for where, _, _, last in stored(TEMPLATE)}
    assert kept["bucket, `exports/`"] == "7 days; 1 day more as a version"
    assert kept["bucket, the rest"] == "until it is deleted; 30 days more as a version"
    rules = TEMPLATE["Resources"]["Bucket"]["Properties"]["LifecycleConfiguration"]["Rules"]
    expiring = [each for each in rules if "ExpirationInDays" in each]
    assert [each["NoncurrentVersionExpiration"]["NoncurrentDays"] for each in expiring] == [1, 1, 1]


def test_a_queue_keeps_the_name_of_whoever_made_a_call_that_goes_on():
    people = {where.strip("`"): people for where, _, people, _ in stored(TEMPLATE)}
    queues = [name for name, each in TEMPLATE["Resources"].items() if each["Type"] == "AWS::SQS::Queue"]
    assert {name for name in queues if "subject and tenant" in people[name]} == set(queues)


def test_what_outlives_the_stack_is_named_where_it_is_taken_down():
    stored = {name: each for name, each in TEMPLATE["Resources"].items() if "Retain" in each.get("DeletionPolicy", "")}
    deleted = {"AWS::OpenSearchService::Domain": "delete-domain", "AWS::DynamoDB::Table": "delete-table"}
    deleted["AWS::S3::Bucket"] = "aws s3 rb"
    assert {each["Type"] for each in stored.values()} == deleted.keys()
    assert all(command in section("Take it down") for command in deleted.values())
    tables = {name for name, each in TEMPLATE["Resources"].items() if each["Type"] == "AWS::DynamoDB::Table"}
    assert f"every table but {' and '.join(f'`{each}`' for each in sorted(tables - stored.keys()))}" in section(
        "Take it down"
    )


COMMANDS = {words: context.command for words, context in commands()}
LEAVES = {words: command for words, command in COMMANDS.items() if not isinstance(command, click.Group)}
SECTIONS = {part.partition("\n")[0]: part for part in cli_page().replace("\n### ", "\n## ").split("\n## bio-mcp ")[1:]}


def test_every_command_has_its_section():
    assert list(SECTIONS) == list(COMMANDS)
    assert len(LEAVES) > 20


def test_every_option_stands_in_the_section_of_its_command_with_a_meaning_and_its_default_apart():
    for words, command in LEAVES.items():
        rows = [line.strip("|").split(" | ") for line in SECTIONS[words].splitlines() if line.startswith("| `-")]
        named = [name.strip("` ") for row in rows for name in row[0].split(",")]
        assert named == [name for each in options(command) for name in (*each.opts, *each.secondary_opts)], words
        assert all(row[-1].strip() and "[default" not in row[-1] for row in rows), words


def test_an_example_is_understood_by_its_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pubmed26n1300.xml.gz").touch()
    assert EXAMPLES.keys() <= LEAVES.keys()
    for words, example in EXAMPLES.items():
        assert LEAVES[words].make_context(words, shlex.split(example)).params


def test_a_command_that_takes_something_has_an_example():
    takers = {words for words, command in LEAVES.items() if any(each.required for each in command.params)}
    assert takers - EXAMPLES.keys() == set()


def test_an_option_that_no_user_sets_is_left_out():
    command = click.Command("x", params=[click.Option(["--along"], hidden=True), click.Option(["--host"])])
    assert [each.name for each in options(command)] == ["host"]


OF_THE_CODE = {
    "adding_a_tool",
    "adding_an_adapter",
    "architecture",
    "benchmarks",
    "decisions",
    "deploying",
    "runbook",
}  # which name functions and stores
OTHERS = frozenset(
    """
    clientVersion corpus_size directoryRead documentationUrl hasMore icdCode insufficient_scope retry_after_s
    syncDeleteLog acts_on has_constituent plant_species fish_source zsh_source get_doc sync_delta pubmed_chunk
    clinical_question systematic_search what_is_new mesh_heading on_disk abstract_decisions full_text_decisions
    found_by
    """.split()
)
"""Names of protocols, of other programs, of columns of exports, of functions on AWS, and of prompts and their
arguments."""


def strangers(text, *, of_the_code=False):
    """What a page names that no tool has: tools, arguments and fields."""
    called = [(tool, given) for tool, given in calls(text) if tool in PORTABLE]
    wrong = [
        f"{tool}({each})" for tool, given in called for each in given if each not in PORTABLE[tool].input.model_fields
    ]
    typed = re.findall(r"bio-mcp admin call ([a-z][\w.]+)", text)
    words = camel_case(text) | (set() if of_the_code else snake_case(text)) | set(typed)
    return [*wrong, *sorted(words - words_of_tools() - OTHERS)]


@pytest.mark.parametrize("path", [each for each in PAGES if each.name != "CHANGELOG.md"], ids=lambda path: path.stem)
def test_every_tool_argument_and_field_that_a_page_names_exists(path):
    assert strangers(path.read_text(encoding="utf-8"), of_the_code=path.stem in OF_THE_CODE) == []


def test_a_name_that_no_tool_has_is_found():
    page = "`rag_search(query, topics)` or `bio-mcp admin call rag_find`; `searchPubMed`, `doc_number`, `doc_id`"
    assert strangers(page) == ["rag_search(topics)", "doc_number", "rag_find", "searchPubMed"]


CHANGELOG = (Path(__file__).parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
VERSION = re.compile(r"## (\d+)\.(\d+)\.(\d+) - \d{4}-\d{2}-\d{2}")
KINDS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")


def faults(changelog, version):
    """What is wrong with a changelog of a package of this version."""
    heads = re.findall(r"^## .*", changelog, re.MULTILINE)
    released = [tuple(map(int, found.groups())) for head in heads if (found := VERSION.fullmatch(head))]
    kinds = re.findall(r"^### (.*)", changelog, re.MULTILINE)
    parts = re.split(r"^##+ .*\n", changelog, flags=re.MULTILINE)[1:]
    wrong = {
        "the first section is not Unreleased": heads[:1] != ["## Unreleased"],
        "a section is neither Unreleased nor a version with its day": len(released) != len(heads) - 1,
        "versions do not stand from the newest to the oldest, each once": released
        != sorted(set(released), reverse=True),
        "the newest section is not of this version": released[:1] != [tuple(map(int, version.split(".")))],
        "a change is of no known kind": not set(kinds) <= set(KINDS),
        "the last section is empty": not parts or not parts[-1].strip(),
    }
    return [sentence for sentence, is_so in wrong.items() if is_so]


GOOD = """# Changelog

## Unreleased

## 0.2.0 - 2026-12-01

### Added

- b

## 0.1.0 - 2026-11-22

### Added

- a
"""


def test_the_version_has_a_section():
    assert faults(CHANGELOG, __version__) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("## Unreleased\n", "", "Unreleased"),
        (" - 2026-12-01", "", "with its day"),
        ("0.1.0", "0.3.0", "newest to the oldest"),
        ("0.1.0", "0.2.0", "each once"),
        ("0.2.0", "0.2.1", "this version"),
        ("### Added", "### Nice", "known kind"),
        ("- a\n", "", "empty"),
    ],
)
def test_a_changelog_that_breaks_the_form_would_be_seen(old, new, fault):
    assert faults(GOOD, "0.2.0") == []
    assert any(fault in sentence for sentence in faults(GOOD.replace(old, new), "0.2.0"))

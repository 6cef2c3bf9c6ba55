"""The generated pages say what the code says, and links lead somewhere."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from benchmarks.__main__ import names, recorded
from bio_mcp.catalog import RESOURCES, TOOLS
from bio_mcp.doors.cli.inspecting import summary
from bio_mcp.literature.records import RetractionStatus
from bio_mcp.settings import Settings
from scripts.docs import ROOT, filled, pages, publish
from scripts.template.__main__ import files
from scripts.template.functions import functions
from tests.support.touched_ports import needed

PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
GENERATED = pages()


@pytest.mark.parametrize("path", GENERATED)
def test_a_generated_page_is_up_to_date(path):
    assert (ROOT / path).read_text(encoding="utf-8") == GENERATED[path], "run `make docs`"


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
    assert [each for each in described if each not in GENERATED["docs/tools.md"]] == []


def test_every_row_of_a_search_has_a_meaning():
    section = GENERATED["docs/tools.md"].partition("## rag_get")[0]
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
    rows = [line for line in GENERATED["docs/tools.md"].splitlines() if statuses in line]
    assert len(rows) > 15
    assert [row for row in rows if "expression of concern" not in row] == []


def test_every_setting_is_described_and_no_default_names_this_machine():
    page = GENERATED["docs/settings.md"]
    assert all(f"| `{each.metadata['env']}` |" in page for each in fields(Settings))
    assert str(Path.home()) not in page
    assert str(ROOT) not in page


def test_every_tool_has_a_command_on_its_page():
    named = re.findall(r"^\| `(\w+)` \| .* \| `(bio-mcp [\w -]+)` \|$", GENERATED["docs/tools.md"], re.MULTILINE)
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

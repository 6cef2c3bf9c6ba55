"""CHANGELOG.md has a section for the version that this is, in the form of Keep a Changelog."""

import re
from pathlib import Path

import pytest

from bio_mcp import __version__

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

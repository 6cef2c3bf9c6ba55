"""Tests patch nothing and skip nothing."""

import ast
from collections.abc import Callable
from functools import cache

import pytest

from benchmarks.code import patches
from tests.support.package_source import ROOT, parsed


@cache
def broken_in_tests(rule: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """What breaks the rule, by test file."""
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "tests").rglob("*.py")}
    return {path: found for path, source in sources.items() if (found := rule(source))}


def skips(source: str) -> list[str]:
    tree = ast.walk(parsed(source))
    return [
        ast.unparse(n)
        for n in tree
        if isinstance(n, ast.Attribute) and n.attr in ("skip", "skipif", "xfail", "importorskip")
    ]


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        (patches, "from unittest.mock import patch"),
        (patches, "import unittest.mock"),
        (patches, "from unittest import mock"),
        (patches, "def test_x(mocker):\n    mocker.patch('x')"),
        (patches, "def test_x(monkeypatch):\n    monkeypatch.setattr(module, 'X', 1)"),
        (patches, "def test_x(monkeypatch):\n    monkeypatch.setattr('bio_mcp.module.X', 1)"),
        (skips, "@pytest.mark.skip\ndef test_x(): ..."),
        (skips, "def test_x():\n    pytest.skip('later')"),
        (skips, "lxml = pytest.importorskip('lxml')"),
    ],
)
def test_tests_neither_patch_nor_skip(rule, broken):
    assert broken_in_tests(rule) == {}
    assert rule(broken)

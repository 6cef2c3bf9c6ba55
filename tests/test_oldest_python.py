"""The package keeps off what the first versions of Python 3.11 do wrongly; Debian 12 has 3.11.2."""

import re

import pytest

from tests.support.package_source import MODULES_OF_PACKAGE

POSSESSIVE_GROUP = re.compile(r"\)[*+?]\+|\(\?>")  # matched wrongly before 3.11.5: python/cpython#106052


@pytest.mark.parametrize("expression", ["(?:['-][a-z]++)*+", "(?:a|b)++", "(?>a+)b"])
def test_a_possessive_group_is_recognised(expression):
    assert POSSESSIVE_GROUP.search(expression)


def test_no_expression_has_a_possessive_group():
    assert [name for name, source in MODULES_OF_PACKAGE.items() if POSSESSIVE_GROUP.search(source)] == []

from dataclasses import fields, replace

import pytest

from bio_mcp.adapters.embedders.identity import ALL_MINILM_L6_V2


def other(value):
    return (not value) if isinstance(value, bool) else value + (1 if isinstance(value, int) else "x")


@pytest.mark.parametrize("field", [field.name for field in fields(ALL_MINILM_L6_V2)])
def test_anything_that_moves_a_vector_changes_the_fingerprint(field):
    changed = replace(ALL_MINILM_L6_V2, **{field: other(getattr(ALL_MINILM_L6_V2, field))})
    assert changed.fingerprint != ALL_MINILM_L6_V2.fingerprint

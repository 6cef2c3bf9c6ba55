import pytest

from bio_mcp.errors import InvalidInput
from bio_mcp.graph.icd10cm import SOURCE, indication_of
from bio_mcp.graph.nodes import Node, NodeType


@pytest.mark.parametrize(
    ("code", "dotted"),
    [("K30", "K30"), ("R112", "R11.2"), ("R11.2", "R11.2"), ("T3695XA", "T36.95XA"), ("C7A00", "C7A.00")],
)
def test_a_code_is_an_indication_that_is_found_by_it(code, dotted):
    assert indication_of(code, [True, "A complaint"]) == Node(
        f"icd10cm:{dotted}", NodeType.INDICATION, {"en": "A complaint"}, (dotted,), icd_code=dotted, sources=(SOURCE,)
    )


def test_a_code_may_have_its_text_alone():
    assert indication_of("K30", "Dyspepsia").names == {"en": "Dyspepsia"}


@pytest.mark.parametrize(
    ("code", "value", "why"),
    [
        ("K3", "x", "'K3' is no code of ICD-10-CM"),
        ("k30", "x", "is no code"),
        ("K30\n", "x", "is no code"),
        ("K30", None, "K30: a text"),
        ("K30", [True], "K30: a text"),
        ("K30", [True, 7], "K30: a text"),
        ("K30", "", "names: an object with a name"),
    ],
)
def test_what_is_no_code_or_no_text_is_refused(code, value, why):
    with pytest.raises(InvalidInput, match=why):
        indication_of(code, value)

import pytest

from bio_mcp.adapters.opensearch.client import kind_of


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (
            {"error": {"type": "search_phase_execution_exception", "root_cause": [{"type": "query_shard"}]}},
            "query_shard",
        ),
        ({"error": {"type": "search_phase_execution_exception", "root_cause": []}}, "search_phase_execution_exception"),
        ({"error": {"type": "no https://host/ here"}}, "unknown_error"),
        ({"error": "Not Found"}, "unknown_error"),
        ({"message": "Forbidden"}, "unknown_error"),
        ([], "unknown_error"),
    ],
)
def test_the_kind_of_an_error_is_one_word(answer, kind):
    assert kind_of(answer) == kind

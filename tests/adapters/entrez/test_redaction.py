import pytest
from hypothesis import given
from hypothesis import strategies as st

from bio_mcp.adapters.entrez.transport import redacted


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("key 0123456789abcdef0123456789abcdef0123.", "key [removed]."),
        ("from 203.0.113.7, sorry", "from [removed], sorry"),
        ("from 2001:db8::8a2e:370:7334", "from [removed]"),
        ("at https://eutils.ncbi.nlm.nih.gov/x?api_key=1 now", "at [removed] now"),
        ("ask me@example.org", "ask [removed]"),
        ('in "/pubmed_gen/rbuild/eutilsapp.cpp", line 77', 'in "[removed]", line 77'),
        ("history MCID_692851c130aec64bed0a8c2a", "history [removed]"),
        ("two\n lines", "two lines"),
    ],
)
def test_what_nobody_may_read_is_removed(message, shown):
    assert redacted(message) == shown


@pytest.mark.parametrize(
    "message",
    [
        'unbalanced "(("',
        "unknown field [gene]",
        "2024/01/01 to 2024/12/31",
        "IL-6/TNF-alpha",
        "methylenedioxymethamphetamine",
    ],
)
def test_what_helps_the_caller_stays(message):
    assert redacted(message) == message


@given(st.text(max_size=2_000))
def test_it_is_one_short_line(message):
    shown = redacted(message)
    assert len(shown) <= 200
    assert len(shown.splitlines()) <= 1

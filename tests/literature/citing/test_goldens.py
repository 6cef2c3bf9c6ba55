import re

import pytest

from bio_mcp.literature.citing import STYLES, cite
from tests.literature.citing.goldens import articles, goldens


def test_there_are_two_hundred_records_in_six_styles():
    assert len(goldens()) == 200
    assert all(set(each) == set(STYLES) and len(STYLES) == 6 for each in goldens().values())


@pytest.mark.parametrize("style", STYLES)
def test_every_record_is_cited_as_was_reviewed(style):
    changed = {pmid for pmid, reviewed in goldens().items() if cite(articles()[pmid], style) != reviewed[style]}
    assert changed == set()


@pytest.mark.parametrize("style", ["apa_string", "mla_string", "vancouver"])
def test_punctuation_is_never_doubled_and_nothing_is_left_empty(style):
    wrong = re.compile(r"\.\.|,,|\s,|\s\.(?!\d)|\(\)|\[\]|[?!]\.|None|  |“”|, \.|;;|::")
    for pmid, article in articles().items():
        citation = goldens()[pmid][style].replace(". . .", "…").replace("...", "…").replace(article.doi or "\0", "DOI")
        found = wrong.search(citation)
        assert not found or found[0] in (article.title or ""), citation
        assert "\n" not in citation


def test_no_two_bibtex_entries_share_a_key():
    keys = [re.match(r"@\w+\{(.+),", each["bibtex"])[1] for each in goldens().values()]
    assert len(set(keys)) == len(keys)

"""Differences between two versions of a paper."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bio_mcp.literature import differences as module
from bio_mcp.literature.differences import Piece, differences
from bio_mcp.literature.records import AbstractSection, Article, Author

PAPER = Article("1", title="Statins and falls", authors=(Author("Doe", initials="J"), Author("Roe", initials="R")))


def test_a_version_that_changed_nothing_has_none():
    assert differences(PAPER, PAPER) == []


def test_only_the_words_that_changed_are_named():
    [change] = differences(PAPER, replace(PAPER, title="Statins and fractures"))
    assert change.field == "title"
    assert change.pieces == (Piece("same", "Statins and"), Piece("removed", " falls"), Piece("added", " fractures"))


def test_an_author_that_was_added_is_named_whole():
    [change] = differences(PAPER, replace(PAPER, authors=(*PAPER.authors, Author(collective_name="The Group"))))
    assert change.pieces == (Piece("same", "Doe J; Roe R"), Piece("added", "; The Group"))


@settings(max_examples=60)
@given(st.text(max_size=60), st.text(max_size=60))
def test_the_pieces_are_both_texts(old, new):
    changed = differences(
        replace(PAPER, abstract=(AbstractSection(None, None, old),)),
        replace(PAPER, abstract=(AbstractSection(None, None, new),)),
    )
    for change in changed:
        assert "".join(p.text for p in change.pieces if p.kind != "added") == old.rstrip()
        assert "".join(p.text for p in change.pieces if p.kind != "removed") == new.rstrip()


def test_long_texts_are_not_compared_word_by_word():
    [change] = differences(
        replace(PAPER, title="word " * module.MOST_WORDS), replace(PAPER, title="word " * module.MOST_WORDS + "more")
    )
    assert [piece.kind for piece in change.pieces] == ["removed", "added"]


@pytest.mark.parametrize("field", ["doi", "pmcid", "status"])
def test_every_shown_field_is_compared(field):
    assert len(differences(PAPER, replace(PAPER, **{field: "x"}))) == 1

"""Markdown, with YAML front matter."""

import pytest

from tests.adapters.parsers.reading import outline, read

NOTE = """---
title: "A trial: of things"
doi: https://doi.org/10.1000/ABC.1
pmid: 0384001
lang: en-GB
tags: [a, b]
---

Intro with *emphasis* and a [link](https://example.org).

# Methods

We measured H<sub>2</sub>O.
It was fine.

1. First
2. Second

## People

| arm | n |
| --- | - |
| A   | 1 |

# Literature cited

- Doe 2020
"""


def test_a_note_becomes_its_sections():
    assert outline(read(NOTE, "note.md")) == [
        ((), "Intro with emphasis and a link."),
        (("Methods",), "We measured H₂O. It was fine.\n\n- First\n\n- Second"),
        (("Methods", "People"), ""),
        (("Methods", "People"), "arm\tn\nA\t1", "table"),
        (("Literature cited",), "- Doe 2020", "references"),
    ]


def test_front_matter_says_what_it_is():
    note = read(NOTE, "note.markdown")
    assert (note.title, note.doi, note.pmid, note.language) == ("A trial: of things", "10.1000/abc.1", "384001", "en")


def test_windows_line_ends_change_nothing():
    assert read(NOTE.replace("\n", "\r\n"), "note.md") == read(NOTE, "note.md")


def test_one_heading_above_all_others_is_the_title():
    note = read("# A trial\n\nIntro.\n\n## Methods\n\nWe did.\n", "note.md")
    assert note.title == "A trial"
    assert outline(note) == [((), "Intro."), (("Methods",), "We did.")]


@pytest.mark.parametrize(
    "front", ["title: [", "just a line", "- a\n- b", "a: &a [x]\nb: [*a, *a", "!!python/object:os.x {}"]
)
def test_front_matter_that_is_none_is_text(front):
    note = read(f"---\n{front}\n---\n\nText.\n", "note.md")
    assert note.title is None
    assert note.text.endswith("Text.")


def test_an_identifier_that_is_none_is_left_out():
    note = read("---\ndoi: no doi\npmid: twelve\ntitle: T\n---\nText.\n", "note.md")
    assert (note.title, note.doi, note.pmid) == ("T", None, None)


def test_code_and_html_in_a_note_run_nothing_and_are_text():
    note = read("# T\n\n<script>alert(1)</script>\n\n```\nx  =  1\ny\n```\n", "note.md")
    assert note.text == "x  =  1\ny"

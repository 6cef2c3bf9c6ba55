"""The report: one page that shows the figures to everybody, and asks no network for anything."""

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from bio_mcp.evaluating.figures import METRICS, AnswerOutcome, CitedOutcome, Outcome, Run, figures
from bio_mcp.evaluating.page import page
from bio_mcp.evaluating.questions import EvaluationSet, JudgedQuestion

HOSTILE = '</title><script src="https://evil.example/x.js"></script><img src=x onerror=alert(1)>'
ASKED = EvaluationSet(
    "custom",
    "v1",
    (JudgedQuestion("a", "Found?", ("1",)), JudgedQuestion("b", HOSTILE, ("2",)), JudgedQuestion("c", "Far?", ("3",))),
)
GOOD, BAD = AnswerOutcome(True, 0.9, (CitedOutcome(right=True),), ((0,),)), AnswerOutcome(True, 0.31)
OUTCOMES = [
    Outcome("a", 1, (1,), answer=GOOD, without=replace(BAD, answered=False)),
    Outcome("b", 1, answer=BAD, without=BAD),
    Outcome("c", 1, (40,)),
]
VOID = {"meta", "line", "path", "circle", "polygon", "polyline", "rect", "br"}


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, in order; every one that is opened is closed."""

    def __init__(self, source):
        super().__init__()
        self.elements, self.open, self.text = [], [], []
        self.feed(source)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:  # a browser writes an end for those of SVG
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, name):
        return [attributes for tag, attributes in self.elements if tag == name]


def run(ended, outcomes):
    return Run(ended, "v1", "model", figures(METRICS, outcomes))


@pytest.fixture(scope="module")
def source():
    earlier = [run("2026-11-20T10:00:00Z", OUTCOMES[:1])]
    return page(ASKED, METRICS, run("2026-11-22T10:00:00Z", OUTCOMES), earlier, OUTCOMES)


@pytest.fixture(scope="module")
def seen(source):
    return Page(source)


def test_it_needs_no_network_and_no_script(seen, source):
    assert {"script", "link", "img", "iframe", "object", "form", "base"} & {tag for tag, _ in seen.elements} == set()
    assert [
        name for _, each in seen.elements for name in each if name in ("src", "href", "style") or name[:2] == "on"
    ] == []
    assert "url(" not in source
    assert "@import" not in source
    assert {"default-src 'none'; style-src 'unsafe-inline'"} <= {each.get("content") for each in seen.all("meta")}


def test_each_plot_says_what_it_shows(seen):
    ids = [each["id"] for _, each in seen.elements if "id" in each]
    assert len(ids) == len(set(ids))
    plots = seen.all("svg")
    assert len(plots) == len(figures(METRICS, OUTCOMES))  # each over the runs
    assert all(each["role"] == "img" and set(each["aria-labelledby"].split()) <= set(ids) for each in plots)


def test_a_table_has_the_figures(seen):
    assert all(each["scope"] == "col" for each in seen.all("th"))
    assert len(seen.all("caption")) == len(seen.all("table")) == 4
    for words in ("R@10", "0.333", "0.000 to 1.000", "-0.667, worse"):
        assert words in seen.text


def test_it_has_a_language_a_title_and_colours_for_light_and_dark(seen, source):
    assert seen.all("html") == [{"lang": "en"}]
    assert "Evaluation: custom" in seen.text
    assert "prefers-color-scheme: dark" in source
    assert "color-scheme: light dark" in source


def test_the_questions_that_went_wrong_are_named_with_the_place_of_their_paper(seen):
    assert {"Far?", "40", "not found"} <= set(seen.text)
    assert "Found?" not in seen.text


def test_the_questions_that_should_not_have_been_answered_are_named_with_the_confidence(seen):
    at = seen.text.index("Questions answered without a right paper in the corpus")
    assert seen.text[at:].count(HOSTILE) == 1
    assert "0.31" in seen.text[at:]


def test_confidence_is_compared_with_the_share_that_is_right(seen):
    at = seen.text.index("Confidence")
    assert seen.text[at:][5:11] == ["0.31", "0.00", "1", "0.90", "1.00", "1"]


def test_a_search_without_answers_has_no_table_of_confidence():
    searched = [replace(each, answer=None, without=None) for each in OUTCOMES]
    assert "Confidence" not in Page(page(ASKED, METRICS, run("2026-11-22T10:00:00Z", searched), [], searched)).text

"""Two tasks of a researcher in a browser, from start to end: by mouse, by keyboard alone and without scripts."""

import re

import pytest

from tests.all.browsing import opened, overflow, violations
from tests.all.tasks import Person, console, evidence, references, right_years, verdicts


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    with console(tmp_path_factory.mktemp("tasks")) as url:
        yield url


@pytest.fixture(
    params=[("mouse", True), ("keyboard", True), ("mouse", False)], ids=["by mouse", "by keyboard", "without scripts"]
)
def person(chromium, base, request):
    by, scripts = request.param
    with opened(chromium, base, scripts=scripts) as (page, complaints):
        yield Person(page, keyboard=by == "keyboard")
        if scripts:  # by which axe works
            assert violations(page) == []
        assert overflow(page) <= 0
        assert complaints == []


def test_evidence_is_found_with_its_sentence_marked_and_exported(person):
    marked, exported = evidence(person)
    assert marked
    assert marked in " ".join(re.findall(r"^AB  - (.*)$", exported, re.M))
    assert exported.count("TY  - ") == 1
    assert person.acts <= 6


def test_thirty_references_are_checked_and_corrected(person):
    counts, listed = references(person)
    assert list(counts.items()) == list(verdicts().items())
    right = counts["Doubtful"] + counts["Corrected"] + counts["Found"]
    assert [line.partition(". ")[0] for line in listed.splitlines()] == [str(each + 1) for each in range(right)]
    assert right_years(listed)
    assert person.acts <= 4

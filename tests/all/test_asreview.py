"""Exports as ASReview reads them: by its own readers, in an environment of their own (`make test-all` installs it)."""

import json
import subprocess
from pathlib import Path

import pytest

from bio_mcp.exporting.formats import FORMATS
from bio_mcp.exporting.selecting import Record
from bio_mcp.literature.citing import works
from bio_mcp.literature.citing.works import Work
from bio_mcp.retrieval.chunking import abstract_text
from tests.exporting.papers import papers

PYTHON = Path(__file__).parents[2] / ".cache/asreview/bin/python"
READ = """
import json, sys
from asreview.data.ris import RISReader
from asreview.data.tabular import CSVReader
fields = ("title", "abstract", "authors", "keywords", "doi", "url", "year", "included")
for path in sys.argv[1:]:
    records = (CSVReader if path.endswith(".csv") else RISReader).read_records(path, "of a test")
    print(json.dumps([{name: getattr(each, name) for name in fields} for each in records]))
"""
DECIDED = ("include", "exclude", None)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """What ASReview reads of each format, in the order of the papers, of which some were screened."""
    assert PYTHON.exists(), "ASReview is not installed in .cache/asreview: run make test-all"
    home, paths = tmp_path_factory.mktemp("asreview"), []
    said = {"abstract": "ann: include; bob: exclude (no adults); resolved by cem: include"}
    records = [Record(each, DECIDED[number % 3], said=said) for number, each in enumerate(papers().values())]
    for name in ("ris", "csv"):
        form = FORMATS[name]
        paths.append(home / f"papers{form.suffix}")
        text = form.head + form.between.join(map(form.render, records)) + form.tail
        paths[-1].write_bytes(text.encode())
    command = [PYTHON, "-c", READ, *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=home)
    assert done.returncode == 0, done.stderr
    return records, dict(zip(("ris", "csv"), map(json.loads, done.stdout.splitlines()), strict=True))


def one_line(text):
    return " ".join((text or "").split())


@pytest.mark.parametrize("name", ["ris", "csv"])
def test_asreview_reads_every_paper_with_what_it_screens_by(exported, name):
    records, read = exported
    assert len(read[name]) == len(records)
    for record, each in zip(records, read[name], strict=True):
        cited = Work(record.article)
        assert one_line(each["title"]) == one_line(cited.title)
        assert one_line(each["abstract"]) == one_line(abstract_text(record.article))
        assert (each["doi"] or "").lower() == (record.article.doi or "").lower()
        assert each["year"] == (cited.issued.year if cited.issued else None)


def test_asreview_reads_authors_and_subjects_of_ris_one_by_one(exported):
    records, read = exported
    for record, each in zip(records, read["ris"], strict=True):
        assert [*map(one_line, each["authors"] or [])] == [
            one_line(works.inverted_name(author)) for author in Work(record.article).authors
        ]
        assert [*map(one_line, each["keywords"] or [])] == [*map(one_line, record.subjects)]


@pytest.mark.parametrize("name", ["ris", "csv"])
def test_asreview_reads_what_was_decided(exported, name):
    records, read = exported
    wanted = [None if each.included is None else int(each.included) for each in records]
    assert [each["included"] for each in read[name]] == wanted

"""Texts that would forge a tag, a field or a record of a format, were they written as they are."""

import csv
import io
import json
import re
from itertools import count

import nbib
import pybtex.database
import pytest
import rispy

from bio_mcp.exporting.formats import FORMATS, NAMES
from bio_mcp.exporting.selecting import Record
from bio_mcp.literature.records import AbstractSection, Article, Author, Journal, MeshHeading, PublicationType

FORGERIES = {
    "a tag of RIS": "A title\nER  - \n\nTY  - JOUR\nTI  - Forged",
    "a tag of NBIB": "A title\nPMID- 666\nTI  - Forged",
    "a record of NBIB": "A title\n\nPMID- 666\nTI  - Forged",
    "a field of BibTeX": "A title}, title = {Forged",
    "an entry of BibTeX": "A title}}\n@article{forged, title = {Forged}}",
    "a command of LaTeX": r"A title \input{/etc/passwd} $x$ 100% & more #1 ~ ^ _ \\",
    "a row of CSV": 'A title",forged\r\n666,"Forged',
    "an item of JSON": '"}, {"id": "forged", "title": "Forged"',
    "line ends of other systems": "A title\r\nER  - \rTY  - JOUR\x85TI  - Forged\u2028x\u2029y\x0bz\x0cw",
    "nothing": "",
    "spaces alone": " \t\n ",
}


def hostile(text):
    """A paper each of whose texts is `text`, and one after it that is not."""
    paper = Article(
        "1",
        title=text,
        abstract=(AbstractSection(text, None, text),),
        authors=(Author(last_name=text, fore_name=text, initials="A"), Author(collective_name=text)),
        journal=Journal(title=text, medline_abbreviation=text, volume=text, issue=text, issn="1234-5678"),
        pages=text,
        mesh=(MeshHeading("D1", text),),
        keywords=(text,),
        publication_types=(PublicationType("D2", text),),
        doi="10.1000/x",
    )
    return [Record(paper), Record(Article("2", title="The next paper", journal=Journal(title="A journal")))]


def written(name, text):
    form = FORMATS[name]
    return form.head + form.between.join(map(form.written, hostile(text), count(1))) + form.tail


def csv_rows(text):
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert {len(row) for row in rows} == {len(head)}
    assert all("\n" not in cell and "\r" not in cell for row in rows for cell in row)
    return [(row[0], row[head.index("title")]) for row in rows]


def bibtex_entries(text):
    assert r"\input" not in text
    entries = pybtex.database.parse_string(text, "bibtex").entries
    return [(each.fields["pmid"], each.fields.get("title", "")) for each in entries.values()]


def text_rows(text):
    lines = text.splitlines()
    assert [each.partition(". ")[0] for each in lines] == ["1", "2"]
    cited = [each.partition(". ")[2] for each in lines]
    return [(re.search(r"PMID: (\d+)", each)[1], each.partition(". ")[0]) for each in cited]


READ = {  # (PMID, title) of each record, by the reader of each format
    "ris": lambda text: [(each["accession_number"], each.get("title")) for each in rispy.loads(text)],
    "nbib": lambda text: [(str(each["pubmed_id"]), each.get("title")) for each in nbib.read(text)],
    "bibtex": bibtex_entries,
    "csv": csv_rows,
    "csl-json": lambda text: [(each["PMID"], each.get("title")) for each in json.loads(text)],
    "text": text_rows,
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", FORGERIES)
def test_a_file_has_two_records_whatever_a_text_is(name, kind):
    first, second = READ[name](written(name, FORGERIES[kind]))
    assert (first[0], second[0]) == ("1", "2")
    assert second[1].strip("{}") == "The next paper"
    assert first[1] != "Forged"


@pytest.mark.parametrize("name", NAMES)
def test_a_text_in_any_script_comes_out_as_it_is(name):
    text = "ผลของ ขิง 生姜 Žluťoučký кинь العربية 🌿 e\u0301"
    assert text in written(name, text)


def test_long_lines_of_nbib_are_folded_at_spaces_and_long_words_are_not_cut():
    word = "x" * 300
    text = FORMATS["nbib"].render(Record(Article("1", title=f"{'word ' * 60}{word} end")))
    lines = text.splitlines()
    assert all(len(each) <= 88 or word in each for each in lines)
    assert [each for each in lines if not (each[4:6] == "- " or each.startswith(" " * 6))] == []
    [entry] = nbib.read(text + "\n")
    assert entry["title"] == f"{'word ' * 60}{word} end"

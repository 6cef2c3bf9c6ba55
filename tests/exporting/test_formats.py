"""Each format of an export, read back by the readers that others use."""

import csv
import io
import json
import re
import unicodedata
from functools import cache
from itertools import count

import nbib
import pybtex.database
import pytest
import rispy

from bio_mcp.exporting.formats import FORMATS, NAMES
from bio_mcp.exporting.selecting import Record
from bio_mcp.literature.citing import cite, works
from bio_mcp.literature.citing.formats import latex
from bio_mcp.literature.citing.works import Work
from bio_mcp.literature.records import AbstractSection, Article, RetractionStatus
from bio_mcp.retrieval.chunking import abstract_text
from tests.exporting.papers import papers
from tests.exporting.spreadsheets import HOSTILE, SEPARATORS, hostile
from tests.support.cases import case

TEXTS = set(  # the variables of CSL-JSON 1.0.2 that we use
    (
        "id title original-title container-title container-title-short publisher publisher-place volume issue ISSN "
        "ISBN edition page genre status language DOI PMID PMCID URL source note abstract keyword"
    ).split()
)


@cache
def written(name, decision=None):
    form = FORMATS[name]
    records = [Record(each, decision) for each in papers().values()]
    return form.head + form.between.join(map(form.written, records, count(1))) + form.tail


def one_line(text):
    return " ".join((text or "").split())


def ris_reads_back(record, entry):
    article, cited = record.article, Work(record.article)
    assert entry["accession_number"] == article.pmid
    assert entry.get("title", "") == one_line(cited.title)
    assert entry.get("authors", []) == [one_line(works.inverted_name(each)) for each in cited.authors]
    assert entry.get("abstract", "") == one_line(abstract_text(record.article))
    assert entry.get("keywords", []) == [one_line(each) for each in record.subjects]
    assert entry.get("doi") == article.doi
    assert entry.get("year") == (str(cited.issued.year) if cited.issued and cited.issued.year else None)
    assert entry.get("secondary_title", "") == one_line(cited.container)
    retracted = "Retracted publication." in entry.get("notes", [])
    assert retracted == (article.retraction is RetractionStatus.RETRACTED)


def test_ris_has_the_notes_by_which_asreview_knows_what_was_decided():
    kept, dropped = (rispy.loads(written("ris", each))[0]["notes"] for each in ("include", "exclude"))
    assert ("ASReview_relevant" in kept, "ASReview_irrelevant" in dropped) == (True, True)
    assert not [note for each in rispy.loads(written("ris")) for note in each.get("notes", []) if "ASReview" in note]


def csv_reads_back(record, row):
    article, cited = record.article, Work(record.article)
    assert (row["pmid"], row["doi"], row["pmcid"]) == (article.pmid, article.doi or "", article.pmcid or "")
    assert row["title"] == one_line(cited.title)
    assert row["authors"] == one_line("; ".join(works.inverted_name(each) for each in cited.authors))
    assert row["abstract"] == one_line(abstract_text(record.article))
    assert row["mesh"] == one_line("; ".join(record.headings))
    assert row["keywords"] == one_line("; ".join(article.keywords))
    assert row["year"] == (str(cited.issued.year) if cited.issued and cited.issued.year else "")
    assert (row["journal"], row["retraction"]) == (one_line(cited.container), article.retraction.value)
    assert bool(row["notices"]) >= (article.retraction is RetractionStatus.CONCERN)


def test_csv_has_the_decision_of_a_screening_as_a_number():
    decided = [
        {(row["included"], row["decision"]) for row in csv.DictReader(io.StringIO(written("csv", each)))}
        for each in ("include", "exclude", "maybe", None)
    ]
    assert decided == [{("1", "include")}, {("0", "exclude")}, {("", "maybe")}, {("", "")}]


def test_csv_has_what_the_abstract_states_of_its_study():
    text = (
        "METHODS: We included 17 studies (2,604 participants). RESULTS: The risk of stroke was lower (hazard ratio "
        "0.72, 95% CI 0.58-0.90); MD -1.5, 95% CI -2 to -1."
    )
    paper = Article("1", title="Foam: a meta-analysis", abstract=(AbstractSection(None, None, text),))
    [row] = csv.DictReader(io.StringIO(FORMATS["csv"].head + FORMATS["csv"].render(Record(paper))))
    assert {name: row[name] for name in ("design", "humans", "participants", "studies", "effects")} == {
        "design": "meta-analysis",
        "humans": "1",
        "participants": "2604",
        "studies": "17",
        "effects": "stroke: HR 0.72, 95 % CI 0.58 to 0.90; MD -1.5, 95 % CI -2 to -1",
    }
    [row] = csv.DictReader(io.StringIO(FORMATS["csv"].head + FORMATS["csv"].render(Record(Article("1")))))
    assert {row[name] for name in ("design", "humans", "participants", "studies", "effects")} == {""}


@pytest.mark.parametrize("separator", SEPARATORS)
@pytest.mark.parametrize("before", ["", *(f"x{each}" for each in SEPARATORS), "x; ", 'x;"'])
@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_of_a_spreadsheet_is_a_formula(text, before, separator):
    row = FORMATS["csv"].render(Record(hostile(f"{before}{text}")))
    cells = next(csv.reader(io.StringIO(row, newline=""), delimiter=separator))
    begun = [unicodedata.normalize("NFKC", each).strip(' "')[:1] for each in cells]
    assert not set(begun) & set("=+-@")


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("=1+1", "'=1+1"),
        ("a;=1+1", '"a;\'=1+1"'),
        ("a, =1", '"a, \'=1"'),
        ("a\t|＝1", '"a |\'＝1"'),
        ("\u200b=1", "'=1"),
        ("95% CI, -4.1, - 2.3", '"95% CI, -4.1, - 2.3"'),
        ("a-b = c", "a-b = c"),
        ("a|b", '"a|b"'),
        ('a"b', '"a""b"'),
        ("a b", "a b"),
    ],
)
def test_a_cell_is_quoted_where_any_separator_is_in_it_and_a_formula_has_an_apostrophe(text, written):
    assert f",{written}," in FORMATS["csv"].render(Record(Article("1", title=text)))


def csl_reads_back(record, item):
    article = record.article
    assert item.keys() <= TEXTS | {"type", "author", "editor", "issued"}
    assert item["type"] in ("article", "article-journal", "book", "chapter")
    assert all(isinstance(item[name], str) and item[name] for name in TEXTS & item.keys())
    assert all(each.get("family") or each.get("literal") for each in [*item.get("author", ()), *item.get("editor", ())])
    for part in item.get("issued", {}).get("date-parts", ()):
        assert all(type(each) is int for each in part)
        assert 1 <= len(part) <= 3
    assert (item["PMID"], item.get("DOI")) == (article.pmid, article.doi)
    assert item.get("abstract", "") == abstract_text(record.article)
    assert item.get("keyword", "") == "; ".join(record.subjects)
    assert ("Retracted publication." in item.get("note", "")) == (article.retraction is RetractionStatus.RETRACTED)


def bibtex_reads_back(record, entry):
    article, cited = record.article, Work(record.article)
    assert entry.fields["pmid"] == article.pmid
    assert entry.fields.get("abstract", "") == one_line(latex(abstract_text(record.article)))
    assert entry.fields.get("keywords", "") == one_line(latex("; ".join(record.subjects)))
    others = 0 if article.authors_complete or not cited.authors else 1
    assert len(entry.persons.get("author", [])) == len(cited.authors) + others
    assert ("Retracted publication." in entry.fields.get("note", "")) == (
        article.retraction is RetractionStatus.RETRACTED
    )


def nbib_reads_back(record, entry):
    article = record.article
    assert (entry["pubmed_id"], entry.get("doi")) == (int(article.pmid), article.doi)
    assert entry.get("title", "") == one_line(article.title)
    assert entry.get("abstract", "") == one_line(abstract_text(record.article))
    people = [f"{each.last_name}, {each.fore_name}" for each in article.authors if each.last_name and each.fore_name]
    read = [each["author"] for each in entry.get("authors", [])]
    assert [each for each in map(one_line, people) if not any(found.startswith(each) for found in read)] == []
    assert list(dict.fromkeys(each["descriptor"] for each in entry.get("descriptors", []))) == [
        one_line(each.name) for each in article.mesh
    ]
    assert entry.get("keywords", []) == [one_line(each) for each in article.keywords]
    assert entry.get("publication_types", []) == [one_line(each.name) for each in article.publication_types]
    assert entry.get("journal") == (one_line(article.journal.title) if article.journal else None)


def bibtex_entries(text):
    return list(pybtex.database.parse_string(text, "bibtex").entries.values())


def text_reads_back(record, line):
    number, _, cited = line.partition(". ")
    assert int(number) == list(papers()).index(record.article.pmid) + 1
    assert cited == one_line(cite(record.article, "vancouver"))


READ_BACK = {
    "ris": (rispy.loads, ris_reads_back),
    "nbib": (nbib.read, nbib_reads_back),
    "bibtex": (bibtex_entries, bibtex_reads_back),
    "csl-json": (json.loads, csl_reads_back),
    "csv": (lambda text: list(csv.DictReader(io.StringIO(text, newline=""))), csv_reads_back),
    "text": (str.splitlines, text_reads_back),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_read_back_without_loss(name):
    read, compare = READ_BACK[name]
    entries = read(written(name))
    assert len(entries) == len(papers())
    for article, entry in zip(papers().values(), entries, strict=True):
        with case(article.pmid):
            compare(Record(article), entry)


def test_nbib_names_the_notices_about_a_paper_by_their_tags():
    retracted = [each for each in papers().values() if any(one.kind == "RetractionIn" for one in each.corrections)]
    for each in retracted:
        assert re.search(r"^RIN - .*PMID: \d+", FORMATS["nbib"].render(Record(each)).replace("\n      ", " "), re.M)
    assert retracted


@pytest.mark.parametrize("name", NAMES)
def test_a_document_that_pubmed_does_not_have_is_written_too(name):
    text = FORMATS[name].render(Record(Article("", title="An unpublished thesis", doi="10.1/x")))
    assert "An unpublished thesis" in text.replace("{", "").replace("}", "")
    assert "pubmed" not in text.lower()

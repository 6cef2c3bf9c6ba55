"""What is known of a document, who says so, and what its user corrects."""

from types import SimpleNamespace

import pytest

from bio_mcp.deadline import NEVER
from bio_mcp.errors import InvalidInput, NotFound, UpstreamFailed
from bio_mcp.ingesting.correcting import correct, missing
from bio_mcp.ingesting.writing import UNANSWERED
from bio_mcp.literature.citing.works import names, nlm_name
from bio_mcp.literature.descriptions import Description, citekey_of
from bio_mcp.literature.records import Author, Document
from bio_mcp.ports.scholarly import RegisteredWork
from bio_mcp.querying.looking_up import may_look_up, remember
from tests.ingesting.library import PROJECT, opened
from tests.support.corpus import Over
from tests.support.memory_corpus import article

PRINTED = "title: Sleep of mice\nauthors: De Marchis C; Doe JP\nyear: 2016\njournal: J Mice\nMice sleep.\n"


def document(library, title="Sleep of mice"):
    return next(each for each in library.documents_of_project if each.work.title == title)


def edit(library, named, **said):
    return correct(library.projects.get(PROJECT), named, said, library)


def test_a_document_that_prints_its_authors_can_be_cited(library):
    library.write("a.md", PRINTED)
    assert library.ingest().warnings == ()
    found = document(library)
    assert (found.work.authors, found.work.year, found.work.journal) == (("De Marchis C", "Doe JP"), 2016, "J Mice")
    assert found.work.citekey == "de_marchis_2016_sleep"
    assert found.origin["from"] == {
        **dict.fromkeys(("title", "authors", "year", "journal"), "document"),
        "citekey": "made",
    }
    assert missing(found) == []
    assert library.chunks[0].work == found.work


def test_no_two_documents_of_a_project_have_one_made_citekey(library):
    for name in ("a", "b", "c"):
        library.write(f"{name}.md", f"{PRINTED}They sleep in {name}.")
    library.ingest()
    keys = sorted(each.work.citekey for each in library.documents_of_project)
    assert keys == ["de_marchis_2016_sleep", "de_marchis_2016_sleepa", "de_marchis_2016_sleepb"]
    library.plain.version = "plain 2"
    library.ingest()
    assert sorted(each.work.citekey for each in library.documents_of_project) == keys


@pytest.mark.parametrize(
    ("known", "key"),
    [
        (Description(authors=("Früh-Ærø M",), year=2020, title="The α-blockers of mice"), "fruh_aero_2020_blockers"),
        (Description(authors=("The STIM group",), title="On mice"), "the_stim_group_nd_mice"),
        (Description(year=2020), "anonymous_2020"),
        (Description(title="A title alone"), None),
        (Description(authors=("ทดสอบ",), year=2020, title="ขมิ้นชัน"), "anonymous_2020"),
    ],
)
def test_a_citekey_is_first_author_year_and_word(known, key):
    assert citekey_of(known) == key


def test_a_document_that_says_nothing_of_itself_lacks_what_a_citation_needs(library):
    library.write("scan 7.md", "Mice sleep.")
    library.ingest()
    [found] = library.documents_of_project
    assert missing(found) == ["title", "authors", "year", "journal"]
    assert found.work.citekey is None


def test_a_correction_holds_over_what_later_ingests_find(library):
    path = library.write("a.md", PRINTED)
    library.ingest()
    corrected = edit(library, "de_marchis_2016_sleep", year=2017, authors=("Santos Monteiro T",))
    assert (corrected.work.year, corrected.work.citekey) == (2017, "santos_monteiro_2017_sleep")
    assert corrected.origin["from"]["year"] == "you"
    assert library.chunks[0].work == corrected.work
    library.plain.version = "plain 2"
    library.ingest()
    assert document(library).work == corrected.work
    path.write_text(PRINTED.replace("2016", "2018") + "They wake.")
    library.ingest()
    assert document(library).work == corrected.work
    edit(library, "santos_monteiro_2017_sleep", citekey="mice", journal="Mouse J")
    library.plain.version = "plain 3"
    library.ingest()
    found = document(library)
    assert (found.work.citekey, found.work.journal, found.work.year) == ("mice", "Mouse J", 2017)
    assert found.origin["from"]["citekey"] == "you"


@pytest.mark.parametrize(
    ("field", "empty"),
    [("title", None), ("authors", ()), ("year", None), ("journal", None), ("doi", None), ("pmid", None)],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_field_that_is_emptied_stays_empty_until_a_value_is_given(library, field, empty):
    record = article("123", "What PubMed calls it", year=2019, doi="10.1000/a", authors=(Author("Roe", "R", "R"),))
    path = library.write("a.md", f"doi: 10.1000/a\npmid: 123\n{PRINTED}")
    library.ingest()
    [before] = library.documents_of_project
    emptied = edit(library, before.doc_id, **{field: None})
    assert getattr(emptied.work, field) == empty
    assert field not in emptied.origin["from"]
    library.documents.put([Document(record, "hash")])
    library.plain.version = "plain 2"
    library.ingest()
    path.write_text(path.read_text() + "They wake.")
    library.ingest()
    [found] = library.documents_of_project
    assert getattr(found.work, field) == getattr(library.chunks[0].work, field) == empty
    others = {"title", "authors", "year", "journal", "doi", "pmid"} - {field}
    assert all(getattr(found.work, each) for each in others)
    assert (field in missing(found)) is (field in ("title", "authors", "year", "journal"))
    given = {"title": "Mine", "authors": ("Me M",), "year": 2020, "journal": "J", "doi": "10.1000/b", "pmid": "9"}
    edit(library, found.doc_id, **{field: given[field]})
    library.plain.version = "plain 3"
    library.ingest()
    [found] = library.documents_of_project
    assert getattr(found.work, field) == given[field]


def test_an_emptied_pmid_is_that_of_no_paper_any_more_and_an_emptied_citekey_is_made_anew(library):
    library.write("a.md", f"pmid: 123\n{PRINTED}")
    library.ingest()
    edit(library, "123", citekey="mice")
    edit(library, "123", pmid=None)
    assert not {each for each in library.documents_of_project[0].identifiers if each.startswith("pm")}
    library.plain.version = "plain 2"
    library.ingest()
    edit(library, "mice", citekey=None)
    [found] = library.documents_of_project
    assert (found.work.pmid, found.work.citekey) == (None, "de_marchis_2016_sleep")
    library.write("b.md", "pmid: 123\nAnother paper.")
    library.ingest()
    assert len(library.documents_of_project) == 2


def test_a_corrected_id_brings_the_paper_of_the_corpus(library):
    record = article("123", "What PubMed calls it", year=2019, doi="10.1000/right", authors=(Author("Roe", "R", "R"),))
    library.documents.put([Document(record, "hash")])
    library.write("a.md", f"doi: 10.1000/wrong\n{PRINTED}")
    library.ingest()
    [before] = library.documents_of_project
    edit(library, before.doc_id, doi="10.1000/right")
    for _ in range(2):
        [found] = library.documents_of_project
        assert (found.work.title, found.work.pmid, found.work.doi) == ("What PubMed calls it", "123", "10.1000/right")
        assert "doi:10.1000/wrong" not in found.identifiers
        library.plain.version = "plain 2"
        library.ingest()


def test_a_correction_leaves_the_ids_that_it_does_not_touch(library):
    library.write("a.md", f"pmid: 123\n{PRINTED}")
    library.ingest()
    assert edit(library, "123", year=2017).identifiers >= {"pmid:123"}
    corrected = edit(library, "123", doi="10.1000/x")
    assert corrected.identifiers >= {"pmid:123", "doi:10.1000/x"}
    assert "pmid:123" not in edit(library, "123", doi="10.1000/y").identifiers, "it is of another paper"


def test_no_two_documents_get_one_citekey(library):
    for name in ("a", "b"):
        library.write(f"{name}.md", f"{PRINTED}They sleep in {name}.")
    library.ingest()
    edit(library, "de_marchis_2016_sleep", citekey="mice")
    with pytest.raises(InvalidInput, match="'Sleep of mice' has the citekey 'mice' already"):
        edit(library, "de_marchis_2016_sleepa", citekey="mice")


def test_a_name_that_no_document_has_is_refused(library):
    with pytest.raises(NotFound, match="no document of the name 'nobody'"):
        edit(library, "nobody", year=2017)


@pytest.fixture
def asking(tmp_path, ncbi):
    """A library over a local NCBI."""
    with opened(tmp_path, base_url=ncbi.base_url) as library:
        yield library


def paper(library, ncbi):
    found = library.pubmed.efetch([str(each) for each in ncbi.control.pmids()[-40:]], deadline=NEVER)
    return next(each for each in found if each.doi and each.authors and len((each.title or "").split()) > 8)


@pytest.mark.parametrize("by", ["doi", "title"])
def test_pubmed_is_asked_about_a_document_where_it_may_be(asking, ncbi, by):
    record = paper(asking, ncbi)
    year = record.publication_date.year
    first = nlm_name(names(record.authors)[0])
    says = f"doi: {record.doi}" if by == "doi" else f"title: {record.title}\nauthors: {first}\nyear: {year}"
    asking.write("a.md", f"{says}\nMice sleep.")
    before = ncbi.control.requests()
    asking.ingest()
    assert ncbi.control.requests() == before, "nothing leaves the machine unless it may"
    remember(PROJECT, asking, allowed=True)
    asking.ingest()
    [found] = asking.documents_of_project
    assert (found.work.pmid, found.work.title, found.work.year) == (record.pmid, record.title, year)
    assert found.origin["from"]["journal"] == "pubmed"
    asked = ncbi.control.requests()
    asking.ingest()
    assert ncbi.control.requests() == asked, "it is asked once"


@pytest.mark.parametrize(
    ("registered", "year"), [("Sleep of old mice in winter", 2016), ("Sleep of young mice in summer", None)]
)
def test_crossref_is_asked_by_title_about_what_pubmed_does_not_have(asking, registered, year):
    work = RegisteredWork("10.1000/x", registered, ("Doe, Jane",), "Journal of Mice", 2016)
    crossref = SimpleNamespace(of=lambda *_, **__: {}, titled=lambda *_, **__: (work,))
    remember(PROJECT, asking, allowed=True)
    asking.write("a.md", "title: Sleep of old mice in winter\nauthors: Doe J\nThey sleep.")
    asking.ingest(over=Over(asking, notices=crossref))
    [found] = asking.documents_of_project
    assert found.work.year == year
    assert found.origin["from"].get("year") == ("crossref" if year else None)


def test_a_service_that_does_not_answer_is_asked_again_by_the_next_ingest(library):
    remember(PROJECT, library, allowed=True)
    assert may_look_up(PROJECT, library) is True
    asked = []

    def fails(*given, **more):
        asked.append(given)
        raise UpstreamFailed("the network is down")

    down = SimpleNamespace(convert=fails, ecitmatch=fails, esearch=fails, efetch=fails, of=fails)
    over = Over(library, lookup=down, pubmed=down, notices=down)
    for name in ("a", "b", "c"):
        library.write(f"{name}.md", f"doi: 10.1000/{name}\n{PRINTED}They sleep in {name}.")
    for times in (1, 2):
        report = library.ingest(over=over)
        assert (report.cursor.written, report.warnings) == (3, (UNANSWERED,))
        assert sum(given == (["10.1000/a"], "doi") for given in asked) == times
        assert not any("10.1000/b" in given[0] for given in asked), "the rest is read without it"
    remember(PROJECT, library, allowed=False)
    assert library.ingest().cursor.unchanged == 3

"""A library of Zotero followed into a project: what comes in, what it costs, and what is dropped on which evidence."""

import json
from contextlib import ExitStack, closing

import pytest

from bio_mcp.errors import InvalidInput, NotFound, UpstreamFailed
from bio_mcp.ingesting.files import stored_pdf_key
from bio_mcp.ingesting.sources import Options
from bio_mcp.literature.documents import SectionKind
from bio_mcp.settings import Settings
from bio_mcp.wiring.embedded import Embedded
from tests.ingesting.library import opened
from tests.support.zotero_server.library import Library as Zotero
from tests.support.zotero_server.library import write_files
from tests.support.zotero_server.server import KEY, WEB, ZOTERO_7, Fault, serving

USER = {"zotero_library_id": "475425"}


class Following:
    """A project that follows `zotero`; `ingest` makes what was changed there visible and reads it."""

    def __init__(self, zotero, project, folder, server=None):
        self.zotero, self.project, self.folder, self.server = zotero, project, folder, server

    def ingest(self, source="zotero", **options):
        write_files(self.zotero, self.folder)
        return self.project.ingest(source, **options)

    @property
    def titles(self):
        return sorted(each.work.title for each in self.project.documents_of_project)

    def document(self, title):
        [found] = [each for each in self.project.documents_of_project if each.work.title == title]
        return found

    def document_of(self, key):
        name = f"zotero:{self.zotero.name}/{key}"
        return next((each for each in self.project.documents_of_project if name in each.identifiers), None)

    @property
    def embedded(self):
        return self.project.model.embedded

    def paper(self, title, text=None, **fields):
        """A paper with a file; returns its key."""
        key = self.zotero.add("journalArticle", title=title, **fields)
        self.zotero.attach(key, f"{title}.pdf", (text or f"Text of {title}.").encode(), md5=title.encode().hex())
        return key

    def papers(self, count, **fields):
        return [self.paper(f"Paper {number}", **fields) for number in range(count)]


def web(zotero, folder, stack):
    server = stack.enter_context(serving(zotero, WEB))
    return server, {"zotero_api_url": server.url, "zotero_api_key": KEY, **USER}


def running(zotero, folder, stack):
    server = stack.enter_context(serving(zotero, ZOTERO_7, folder / "storage"))
    return server, {"zotero_api_url": server.url, "zotero_data_dir": str(folder), **USER}


WAYS = {"web": web, "a running Zotero": running}


def following(tmp_path, way):
    with ExitStack() as stack:
        zotero, folder = Zotero(), tmp_path / "Zotero"
        server, settings = way(zotero, folder, stack)
        write_files(zotero, folder)
        project = stack.enter_context(opened(tmp_path))
        wired = stack.enter_context(closing(Embedded(Settings(home=tmp_path / "wired", **settings))))
        project.zotero = wired.zotero
        yield Following(zotero, project, folder, server)


@pytest.fixture(params=WAYS)
def anyhow(request, tmp_path):
    yield from following(tmp_path, WAYS[request.param])


@pytest.fixture
def online(tmp_path):
    yield from following(tmp_path, web)


@pytest.fixture
def followed(tmp_path):
    yield from following(tmp_path, running)


# What comes in


def test_an_item_comes_in_with_its_metadata_its_text_and_what_its_reader_wrote(anyhow):
    key = anyhow.zotero.add(
        "journalArticle",
        title="DAPA-HF",
        creators=[{"creatorType": "author", "firstName": "John", "lastName": "McMurray"}],
        date="2019-11-21",
        DOI="10.1056/NEJMoa1911303",
        publicationTitle="New England Journal of Medicine",
        extra="PMID: 31535829\nCitation Key: mcmurray2019",
        tags=[{"tag": "review"}],
        abstractNote="Not wanted beside the text.",
    )
    pdf = anyhow.zotero.attach(key, "dapa.pdf", b"# Results\nFewer deaths.", md5="aa")
    position = json.dumps({"pageIndex": 6, "rects": []})
    mark = {"annotationType": "highlight", "annotationSortIndex": "1", "annotationPosition": position}
    mark |= {"annotationText": "Fewer deaths", "annotationComment": "how many?", "annotationPageLabel": "2001"}
    anyhow.zotero.add("annotation", pdf, **mark)
    anyhow.zotero.add("note", key, note="<p>Ask about dose.</p>")
    report = anyhow.ingest()
    assert (report.state, report.warnings) == ("complete", ())
    work = anyhow.document("DAPA-HF").work
    assert (work.citekey, work.doi, work.pmid) == ("mcmurray2019", "10.1056/nejmoa1911303", "31535829")
    assert (work.authors, work.year, work.tags) == (("McMurray J",), 2019, ("review",))
    assert work.journal == "New England Journal of Medicine"
    found = {each.text: (each.kind, each.section, each.page_span) for each in anyhow.project.chunks}
    assert found == {
        "Fewer deaths.": (SectionKind.BODY, "Results", None),
        "Ask about dose.": (SectionKind.NOTE, "Note", None),
        "Fewer deaths\n\nhow many?": (SectionKind.NOTE, "Annotation, page 2001", (7, 7)),
    }


def test_an_item_without_a_file_is_its_abstract_and_notes(followed):
    key = followed.zotero.add("journalArticle", title="Only an abstract", abstractNote="In short.")
    followed.zotero.add("note", key, note="<p>Find the text.</p>")
    followed.zotero.add("journalArticle", title="Nothing at all")
    assert followed.ingest().warnings == ()
    assert followed.project.texts == ["Find the text.", "In short."]


def test_a_file_that_is_not_here_is_a_warning_until_it_comes(followed):
    key = followed.zotero.add("journalArticle", title="Away", abstractNote="In short.")
    pdf = followed.zotero.attach(key, "away.pdf", None)
    report = followed.ingest()
    assert [each for each in report.warnings if "away.pdf" in each and "no file for it on this machine" in each]
    assert followed.project.texts == ["In short."]
    followed.zotero.files[pdf] = b"The whole text."
    followed.zotero.add("book", title="Another")
    assert followed.ingest().warnings == ()
    assert followed.project.texts == ["The whole text."]


def test_the_first_pdf_is_the_text_and_not_a_page_that_was_stored_earlier(followed):
    key = followed.zotero.add("journalArticle", title="Twice")
    followed.zotero.attach(key, "page.html", b"The page.")
    followed.zotero.attach(key, "paper.pdf", b"The paper.")
    followed.zotero.attach(key, "supplement.pdf", b"The supplement.")
    followed.ingest()
    assert followed.project.texts == ["The paper."]


def test_one_bad_file_is_a_warning_and_is_tried_again(followed):
    followed.paper("Good")
    bad = followed.zotero.add("journalArticle", title="Bad")
    pdf = followed.zotero.attach(bad, "bad.pdf", b"\xff\xfe", md5="1")
    report = followed.ingest()
    assert (report.cursor.failed, followed.titles) == (1, ["Good"])
    assert "'bad.pdf': it is damaged: it is no text" in report.warnings
    assert followed.ingest().cursor.failed == 1
    followed.zotero.files[pdf] = b"Mended."
    followed.zotero.edit(pdf, md5="2")
    assert followed.ingest().cursor.failed == 0
    assert followed.titles == ["Bad", "Good"]


# What is asked for


def test_collections_bring_what_stands_in_them_and_tags_are_joined_by_and(anyhow):
    heart = anyhow.zotero.add_collection("Heart failure")
    trials = anyhow.zotero.add_collection("Trials", heart)
    lung = anyhow.zotero.add_collection("Lung")
    both, one = [{"tag": "Review"}, {"tag": "read"}], [{"tag": "review"}]
    anyhow.paper("In the child", collections=[trials], tags=both)
    anyhow.paper("In itself", collections=[heart], tags=both)
    anyhow.paper("One tag", collections=[heart], tags=one)
    anyhow.paper("Elsewhere", collections=[lung], tags=both)
    anyhow.ingest("zotero?collection=Heart failure&tag=review&tag=read")
    assert anyhow.titles == ["In itself", "In the child"]
    anyhow.ingest("zotero?collection=Lung&collection=heart%20failure/Trials")
    assert anyhow.titles == ["Elsewhere", "In itself", "In the child"]


@pytest.mark.parametrize(
    ("source", "choices"),
    [
        ("zotero?collection=Kidney", "no collection 'Kidney'; there are: Heart, Heart/Trials, Lung, Lung/Trials"),
        ("zotero?collection=Trials", r"several collections are called 'Trials'.*Heart/Trials \(.*Lung/Trials \("),
        ("zotero?tag=raed", "no item here has the tag 'raed'; there are: read, review"),
        ("zotero?folder=Heart", "'folder=Heart' is not understood; it is zotero"),
        ("zotero?collection=", "not understood"),
        ("zotero?confirm_deletions=maybe", "confirm_deletions is yes or is left out"),
    ],
)
def test_a_name_that_is_unknown_or_ambiguous_lists_the_choices(followed, source, choices):
    for name in ("Heart", "Lung"):
        followed.zotero.add_collection("Trials", followed.zotero.add_collection(name))
    followed.paper("Paper", tags=[{"tag": "read"}, {"tag": "review"}])
    with pytest.raises(InvalidInput, match=choices):
        followed.ingest(source)
    assert followed.titles == []


# What it costs


def test_an_unchanged_library_costs_one_request_and_no_parse(online):
    online.papers(12)
    assert online.ingest().cursor.written == 12
    online.server.requests.clear()
    online.project.plain.read.clear()
    report = online.ingest()
    assert (report.state, report.cursor.chunks) == ("complete", 0)
    assert (len(online.server.requests), online.project.plain.read) == (1, [])


def test_of_many_items_only_the_changed_one_is_read(online):
    keys = online.papers(40)
    online.ingest()
    online.server.requests.clear()
    online.project.plain.read.clear()
    pdf = next(online.zotero.below(keys[7]))
    online.zotero.files[pdf] = b"A new version."
    online.zotero.edit(pdf, md5="new")
    online.ingest()
    assert online.project.plain.read == ["Paper 7.pdf"]
    assert [path for path in online.server.paths if "/file" in path] == [f"/items/{pdf}/file"]
    assert len(online.server.requests) < 12


EDITS = {
    "title": lambda zotero, key: zotero.edit(key, title="Renamed"),
    "tag": lambda zotero, key: zotero.tag(key, "new"),
    "citekey": lambda zotero, key: zotero.edit(key, extra="Citation Key: new2020"),
    "DOI": lambda zotero, key: zotero.edit(key, DOI="10.1000/new"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_edited_metadata_reach_the_chunks_and_nothing_is_read_or_embedded(anyhow, edit):
    keys = anyhow.papers(3)
    anyhow.ingest()
    before = {each.chunk_id: each for each in anyhow.project.chunks}
    anyhow.project.plain.read.clear()
    embedded = anyhow.embedded
    EDITS[edit](anyhow.zotero, keys[0])
    anyhow.ingest()
    changed = [each for each in anyhow.project.chunks if each != before[each.chunk_id]]
    [work] = {each.work for each in changed}
    assert {"title": "Renamed", "tag": ("new",), "citekey": "new2020", "DOI": "10.1000/new"}[edit] in (
        work.title,
        work.tags,
        work.citekey,
        work.doi,
    )
    assert (anyhow.project.plain.read, anyhow.embedded) == ([], embedded)


def test_tags_that_were_taken_away_are_gone_from_the_chunks(followed):
    key = followed.paper("Paper", tags=[{"tag": "old"}], extra="Citation Key: old2020")
    followed.ingest()
    followed.zotero.tag(key)
    followed.zotero.edit(key, extra="")
    followed.ingest()
    assert {(each.work.tags, each.work.citekey) for each in followed.project.chunks} == {((), None)}


def test_a_new_annotation_embeds_itself_and_nothing_else(followed):
    key = followed.paper("Paper")
    followed.ingest()
    embedded = followed.embedded
    mark = {"annotationType": "highlight", "annotationSortIndex": "1", "annotationPosition": '{"pageIndex": 0}'}
    followed.zotero.add("annotation", next(followed.zotero.below(key)), annotationText="Marked.", **mark)
    followed.ingest()
    assert followed.project.texts == ["Marked.", "Text of Paper."]
    assert followed.embedded == embedded + 1


def test_all_is_read_again_when_that_is_asked_for(followed):
    followed.papers(3)
    followed.ingest()
    followed.project.plain.read.clear()
    followed.ingest(options=Options(rebuild=True))
    assert len(followed.project.plain.read) == 3


# What leaves


LEAVE = {
    "deleted": lambda zotero, key: zotero.delete(key),
    "trashed": lambda zotero, key: zotero.trash(key),
    "moved": lambda zotero, key: zotero.move(key),
    "without its tag": lambda zotero, key: zotero.tag(key, "other"),
}


@pytest.mark.parametrize("leave", LEAVE)
def test_what_leaves_is_dropped_with_its_chunks(anyhow, leave):
    heart = anyhow.zotero.add_collection("Heart")
    keys = anyhow.papers(5, collections=[heart], tags=[{"tag": "read"}])
    source = "zotero?collection=Heart&tag=read"
    anyhow.ingest(source)
    LEAVE[leave](anyhow.zotero, keys[2])
    report = anyhow.ingest(source)
    assert anyhow.titles == ["Paper 0", "Paper 1", "Paper 3", "Paper 4"]
    assert len(anyhow.project.chunks) == 4
    assert "1 document was dropped, as it left this part of Zotero" in report.warnings


def test_what_is_restored_comes_back(anyhow):
    keys = anyhow.papers(5)
    anyhow.ingest()
    anyhow.zotero.trash(keys[0])
    anyhow.ingest()
    assert len(anyhow.titles) == 4
    anyhow.zotero.restore(keys[0])
    anyhow.ingest()
    assert len(anyhow.titles) == 5


def test_a_child_collection_that_vanishes_takes_its_items_and_one_that_comes_brings_its_own(anyhow):
    heart = anyhow.zotero.add_collection("Heart")
    child, other = anyhow.zotero.add_collection("Child", heart), anyhow.zotero.add_collection("Other")
    anyhow.papers(4, collections=[heart])
    anyhow.paper("In the child", collections=[child])
    anyhow.paper("In the other", collections=[other])
    anyhow.ingest("zotero?collection=Heart")
    assert "In the child" in anyhow.titles
    anyhow.zotero.delete_collection(child)
    anyhow.ingest("zotero?collection=Heart")
    assert anyhow.titles == [f"Paper {number}" for number in range(4)]
    anyhow.zotero.edit_collection(other, parentCollection=heart)
    anyhow.ingest("zotero?collection=Heart")
    assert "In the other" in anyhow.titles
    anyhow.zotero.edit_collection(other, parentCollection=False)
    anyhow.ingest("zotero?collection=Heart")
    assert "In the other" not in anyhow.titles


def test_a_renamed_collection_is_followed_under_its_new_name(followed):
    heart = followed.zotero.add_collection("Heart")
    followed.papers(2, collections=[heart])
    followed.ingest("zotero?collection=Heart")
    followed.zotero.edit_collection(heart, name="Cardiology")
    followed.paper("New", collections=[heart])
    report = followed.ingest("zotero?collection=Heart")
    assert len(followed.titles) == 3
    assert "the collection 'Heart' is called 'Cardiology' in Zotero now, and is still followed" in report.warnings


@pytest.mark.parametrize("vanish", ["delete_collection", "trash"])
def test_a_vanished_collection_stops_the_run_until_it_is_confirmed(anyhow, vanish):
    heart = anyhow.zotero.add_collection("Heart")
    anyhow.papers(3, collections=[heart])
    anyhow.ingest("zotero?collection=Heart")
    getattr(anyhow.zotero, vanish)(heart)
    for _ in range(2):
        with pytest.raises(
            InvalidInput, match=r"3 of the 3 documents.*ingest 'zotero\?collection=Heart&confirm_deletions=yes'"
        ):
            anyhow.ingest("zotero?collection=Heart")
        assert len(anyhow.titles) == 3
    anyhow.ingest("zotero?collection=Heart&confirm_deletions=yes")
    assert anyhow.titles == []
    report = anyhow.ingest("zotero?collection=Heart")
    assert "the collection 'Heart' was deleted in Zotero" in report.warnings or report.warnings == ()


def test_the_pdf_that_is_kept_of_a_paper_leaves_with_it(anyhow):
    keys = [anyhow.paper(f"Paper {number}", f"Text %PDF-1.7 of {number}.") for number in range(5)]
    anyhow.ingest()
    kept = {each.work.title: stored_pdf_key(each) for each in anyhow.project.documents_of_project}
    anyhow.zotero.delete(keys[0])
    anyhow.ingest()
    with pytest.raises(NotFound):
        anyhow.project.blobs.get(kept.pop("Paper 0"))
    assert [anyhow.project.blobs.get(each)[:15] for each in kept.values()] == [b"Text %PDF-1.7 o"] * 4


def test_a_run_that_would_drop_more_than_a_quarter_changes_nothing(anyhow):
    keys = anyhow.papers(8)
    anyhow.ingest()
    for key in keys[:3]:
        anyhow.zotero.delete(key)
    anyhow.zotero.edit(keys[7], title="Renamed")
    anyhow.paper("New")
    before = anyhow.project.documents_of_project
    with pytest.raises(InvalidInput, match=r"3 of the 8 documents.*Nothing was changed") as stopped:
        anyhow.ingest()
    assert stopped.value.details["dropped"] == 3
    assert anyhow.project.documents_of_project == before
    anyhow.ingest("zotero?confirm_deletions=yes")
    assert anyhow.titles == ["New", "Paper 3", "Paper 4", "Paper 5", "Paper 6", "Renamed"]


def test_a_library_that_answers_empty_after_an_outage_drops_nothing(anyhow):
    anyhow.papers(4)
    anyhow.ingest()
    lost = dict(anyhow.zotero.items)
    anyhow.zotero.items.clear()
    try:
        anyhow.ingest()
    except InvalidInput as stopped:
        assert "4 of the 4" in str(stopped)  # noqa: PT017  a library at a new version may have lost them rightly
    assert len(anyhow.titles) == 4
    anyhow.zotero.items.update(lost)
    anyhow.zotero.version += 1
    anyhow.ingest()
    assert len(anyhow.titles) == 4


@pytest.mark.parametrize(
    "fault",
    [
        Fault("/deleted", times=99, status=503, headers={"Retry-After": "3600"}),
        Fault("/deleted", times=99, body=b"{}"),
        Fault("format=versions", times=99, body=b"[]"),
    ],
    ids=repr,
)
def test_an_outage_fails_the_run_and_the_next_one_goes_on(online, fault):
    keys = online.papers(4)
    online.ingest()
    online.zotero.delete(keys[0])
    online.server.faults = [fault]
    with pytest.raises(UpstreamFailed):
        online.ingest()
    assert len(online.titles) == 4
    online.server.faults.clear()
    online.ingest()
    assert len(online.titles) == 3


def test_a_document_of_two_sources_stays_until_both_have_lost_it(followed):
    heart, lung = followed.zotero.add_collection("Heart"), followed.zotero.add_collection("Lung")
    key = followed.paper("Both", collections=[heart, lung])
    for number in range(4):
        followed.paper(f"Paper {number}", collections=[heart, lung])
    for name in ("Heart", "Lung"):
        followed.ingest(f"zotero?collection={name}")
    followed.zotero.move(key, lung)
    followed.ingest("zotero?collection=Heart")
    assert "Both" in followed.titles
    followed.zotero.move(key)
    followed.ingest("zotero?collection=Lung")
    assert "Both" not in followed.titles


def test_the_duplicate_of_a_paper_may_be_deleted(anyhow):
    first = anyhow.paper("Twice", "The first text.", DOI="10.1000/twice")
    second = anyhow.paper("Twice ", "The second text.", DOI="10.1000/twice")
    anyhow.papers(4)
    anyhow.ingest()
    assert len(anyhow.titles) == 5
    read = [key for key in (first, second) if anyhow.document_of(key).origin["item"] == key]
    [gone] = read
    [stays] = {first, second} - {gone}
    anyhow.zotero.delete(gone)
    anyhow.ingest()
    assert len(anyhow.titles) == 5
    assert anyhow.document_of(stays).origin["item"] == stays
    assert anyhow.document_of(gone) is None


def test_a_killed_run_that_is_repeated_gives_the_same(online):
    online.papers(6)
    stored = sorted(online.zotero.files)[3]
    online.server.faults = [Fault(f"/items/{stored}/file", times=99, status=500, headers={"Retry-After": "3600"})]
    with pytest.raises(UpstreamFailed):
        online.ingest()
    assert 0 < len(online.titles) < 6
    online.server.faults.clear()
    online.ingest()
    assert len(online.titles) == 6
    assert len(online.project.chunks) == 6


def test_a_name_with_any_sign_is_confirmed_as_it_was_named(followed):
    rare = followed.zotero.add_collection("50 % & more/less")
    key = followed.paper("Paper", collections=[rare])
    source = "zotero?collection=50 %25 %26 more/less"
    followed.ingest(source)
    followed.zotero.trash(key)
    with pytest.raises(InvalidInput) as stopped:
        followed.ingest(source)
    followed.ingest(str(stopped.value).rpartition("ingest ")[2].strip("'"))
    assert followed.titles == []

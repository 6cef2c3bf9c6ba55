"""What every way to a library of Zotero gives: the same items, and the same changes."""

import json

import pytest

from bio_mcp.errors import NotFound
from bio_mcp.ports.zotero import ZoteroCollection
from tests.adapters.zotero.ways import Way
from tests.support.zotero_server.library import Library

PDF = b"%PDF-1.7 a paper"
POSITION = {"pageIndex": 3, "rects": [[10, 20, 30, 40]]}


def full(library: Library) -> dict[str, str]:
    """An item with all that one may have; returns the keys."""
    heart = library.add_collection("Heart failure")
    trials = library.add_collection("Trials", heart)
    item = library.add(
        "journalArticle",
        title="Dapagliflozin in patients with heart failure",
        creators=[
            {"creatorType": "editor", "firstName": "Ed", "lastName": "Itor"},
            {"creatorType": "author", "firstName": "John J. V.", "lastName": "McMurray"},
            {"creatorType": "author", "name": "DAPA-HF Committees"},
        ],
        abstractNote="In patients with heart failure ...",
        date="November 21, 2019",
        DOI="10.1056/NEJMoa1911303",
        url="https://www.nejm.org/doi/10.1056/NEJMoa1911303",
        language="en-US",
        extra="PMID: 31535829\nPMCID: PMC1234567\nCitation Key: mcmurray2019",
        tags=[{"tag": "review"}, {"tag": "SGLT2, and more"}],
        collections=[trials],
    )
    pdf = library.attach(item, "McMurray 2019.pdf", PDF, md5="0123456789abcdef0123456789abcdef")
    highlight = library.add(
        "annotation",
        pdf,
        annotationType="highlight",
        annotationText="lower risk of worsening heart failure",
        annotationComment="the primary <b>outcome</b>",
        annotationColor="#ffd400",
        annotationPageLabel="1995",
        annotationSortIndex="00003|000100|00020",
        annotationPosition=json.dumps(POSITION),
    )
    note = library.add("note", item, note="<div><h1>To discuss</h1><p>Was it&nbsp;<i>blinded</i>?</p></div>")
    return {"heart": heart, "trials": trials, "item": item, "pdf": pdf, "highlight": highlight, "note": note}


def follow(way: Way, cursor=None):
    way.publish()
    return way.port.changes(cursor or {})


def test_an_item_comes_with_everything_that_hangs_on_it(way):
    keys = full(way.library)
    way.publish()
    [item] = way.port.items([keys["item"]])
    assert item.title == "Dapagliflozin in patients with heart failure"
    assert (item.year, item.date) == (2019, "November 21, 2019")
    assert item.creators == ("McMurray JJV", "DAPA-HF Committees")
    assert (item.doi, item.pmid, item.pmcid) == ("10.1056/nejmoa1911303", "31535829", "PMC1234567")
    assert (item.citekey, item.language, item.item_type) == ("mcmurray2019", "en-US", "journalArticle")
    assert item.url == "https://www.nejm.org/doi/10.1056/NEJMoa1911303"
    assert item.abstract == "In patients with heart failure ..."
    assert item.tags == ("SGLT2, and more", "review")
    assert item.collections == {keys["trials"]}
    assert item.objects == {keys[each] for each in ("item", "pdf", "highlight", "note")}
    assert [(each.key, each.text) for each in item.notes] == [(keys["note"], "To discuss\n\nWas it blinded?")]


def test_an_attachment_comes_with_its_annotations_and_its_file(way):
    keys = full(way.library)
    way.publish()
    [item] = way.port.items([keys["item"]])
    [pdf] = item.attachments
    assert (pdf.key, pdf.name, pdf.content_type) == (keys["pdf"], "McMurray 2019.pdf", "application/pdf")
    assert (pdf.link_mode, pdf.md5) == ("imported_file", "0123456789abcdef0123456789abcdef")
    [mark] = pdf.annotations
    assert (mark.text, mark.comment) == ("lower risk of worsening heart failure", "the primary outcome")
    assert (mark.page_label, mark.page, mark.color, mark.position) == ("1995", 4, "#ffd400", POSITION)
    assert way.port.content(pdf) == PDF


def test_the_native_citekey_precedes_that_of_extra(way):
    key = way.library.add("book", title="A book", citationKey="native2020", extra="Citation Key: other2020")
    way.publish()
    assert way.port.items([key])[0].citekey == "native2020"


def test_collections_have_the_path_of_those_they_stand_in(way):
    keys = full(way.library)
    gone = way.library.add_collection("In the trash")
    way.library.add_collection("Below it", gone)
    way.library.trash(gone)
    way.publish()
    assert way.port.collections() == [
        ZoteroCollection(keys["heart"], ("Heart failure",), None),
        ZoteroCollection(keys["trials"], ("Heart failure", "Trials"), keys["heart"]),
    ]


def test_members_are_the_top_level_items_of_the_collection_itself(way):
    keys = full(way.library)
    trashed = way.library.add("book", title="Trashed", collections=[keys["trials"]])
    way.library.trash(trashed)
    way.publish()
    assert way.port.members([keys["heart"]]) == frozenset()
    assert way.port.members([keys["heart"], keys["trials"]]) == {keys["item"]}


def test_files_and_notes_that_stand_alone_are_items(way):
    pdf, note = way.library.attach(None, "alone.pdf", PDF), way.library.add("note", note="<p>Alone</p>")
    way.publish()
    found = {each.key: each for each in way.port.items([pdf, note])}
    assert [each.name for each in found[pdf].attachments] == ["alone.pdf"]
    assert [each.text for each in found[note].notes] == ["Alone"]


def test_what_is_trashed_of_an_item_is_left_out(way):
    keys = full(way.library)
    way.library.trash(keys["pdf"])
    way.publish()
    [item] = way.port.items([keys["item"]])
    assert item.attachments == ()
    assert item.objects == {keys["item"], keys["note"]}


def test_many_items_are_the_same_as_each_alone(way):
    keys = [full(way.library)["item"] for _ in range(30)]
    way.publish()
    many = way.port.items(keys)
    assert len(many) == 30
    assert many[:3] == [way.port.items([each.key])[0] for each in many[:3]]


def test_a_file_that_was_never_stored_is_not_found(way):
    item = way.library.add("book", title="Without its file")
    way.library.attach(item, "missing.pdf", None)
    way.publish()
    [found] = way.port.items([item])
    with pytest.raises(NotFound, match="file"):
        way.port.content(found.attachments[0])


# What changed


def test_at_first_everything_is_new_and_nothing_is_deleted(way):
    item, gone = full(way.library)["item"], way.library.add("book", title="Gone")
    way.library.delete(gone)
    changes = follow(way)
    assert (changes.changed, changes.deleted, changes.deleted_collections) == ({item}, frozenset(), frozenset())


def test_an_unchanged_library_has_no_changes(way):
    full(way.library)
    cursor = follow(way).cursor
    again = follow(way, cursor)
    assert (again.changed, again.deleted) == (frozenset(), frozenset())


CHANGES = {
    "a title is edited": lambda library, keys: library.edit(keys["item"], title="Corrected"),
    "a tag is added": lambda library, keys: library.tag(keys["item"], "review", "read"),
    "the citekey is edited": lambda library, keys: library.edit(keys["item"], extra="Citation Key: mcmurray2019a"),
    "it is moved": lambda library, keys: library.move(keys["item"], keys["heart"]),
    "it is trashed": lambda library, keys: library.trash(keys["item"]),
    "a note is edited": lambda library, keys: library.edit(keys["note"], note="<p>Settled</p>"),
    "an annotation is edited": lambda library, keys: library.edit(keys["highlight"], annotationComment="really?"),
    "a file is added": lambda library, keys: library.attach(keys["item"], "supplement.pdf", PDF),
    "a note is trashed": lambda library, keys: library.trash(keys["note"]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_item_has_changed_when(way, change):
    keys = full(way.library)
    way.library.add("book", title="Untouched")
    cursor = follow(way).cursor
    [before] = way.port.items([keys["item"]])
    CHANGES[change](way.library, keys)
    changes = follow(way, cursor)
    assert (changes.changed, changes.deleted) == ({keys["item"]}, frozenset())
    assert way.port.items([keys["item"]])[0].state != before.state


def test_a_deleted_item_is_shown_to_be_gone(way):
    keys, other = full(way.library), way.library.add("book", title="Stays")
    cursor = follow(way).cursor
    way.library.delete(keys["item"])
    changes = follow(way, cursor)
    assert keys["item"] in changes.deleted
    assert other not in changes.deleted | changes.changed


def test_a_deleted_note_makes_its_item_change_or_is_shown_to_be_gone(way):
    keys = full(way.library)
    cursor = follow(way).cursor
    way.library.delete(keys["note"])
    changes = follow(way, cursor)
    assert keys["note"] in changes.deleted or keys["item"] in changes.changed
    assert keys["item"] not in changes.deleted


def test_a_deleted_or_trashed_collection_is_shown_to_be_gone(way):
    keys = full(way.library)
    cursor = follow(way).cursor
    way.library.delete_collection(keys["trials"])
    way.library.trash(keys["heart"])
    assert follow(way, cursor).deleted_collections == {keys["trials"], keys["heart"]}


def test_the_cursor_of_another_library_counts_as_none(way):
    key = full(way.library)["item"]
    cursor = {**follow(way).cursor, "web": "groups/9", "local": "groups/9"}
    changes = follow(way, cursor)
    assert (changes.changed, changes.deleted) == ({key}, frozenset())

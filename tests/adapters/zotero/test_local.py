"""A running Zotero: what it shows to be gone, and how often it is asked."""

import pytest

from bio_mcp.errors import Misconfigured, NotFound, UpstreamFailed
from tests.adapters.zotero.ways import Zotero7, Zotero10
from tests.support.zotero_server.server import Fault


@pytest.fixture(params=[Zotero7, Zotero10], ids=["zotero 7", "zotero 10"])
def running(request, reading):
    return reading(request.param)


@pytest.fixture
def zotero_10(reading):
    return reading(Zotero10)


def test_from_zotero_10_an_unchanged_library_costs_one_request(zotero_10):
    zotero_10.library.add("book", title="First")
    cursor = zotero_10.port.changes({}).cursor
    zotero_10.server.requests.clear()
    assert zotero_10.port.changes(cursor).cursor == cursor
    assert len(zotero_10.server.requests) == 1


def test_a_large_library_is_read_by_few_requests(running):
    for number in range(300):
        running.library.add("book", title=f"Book {number}")
    assert len(running.port.changes({}).changed) == 300
    assert len(running.port.items(sorted(running.library.items))) == 300
    assert len(running.server.requests) == 3  # which Zotero, items, collections


def test_another_zotero_at_the_address_is_read_as_new(zotero_10):
    key = zotero_10.library.add("book", title="First")
    cursor = zotero_10.port.changes({}).cursor
    zotero_10.library.delete(key)
    zotero_10.library.add("book", title="Of another")
    zotero_10.server.server_id = "another"
    assert zotero_10.port.changes(cursor).deleted == frozenset()


def test_what_a_list_lacks_and_zotero_still_has_is_not_deleted(running):
    keys = [running.library.add("book", title=f"Book {number}") for number in range(3)]
    cursor = running.port.changes({}).cursor
    running.library.edit(keys[0], title="Edited")
    short = b'[{"key": "A", "data": {"key": "%s", "itemType": "book"}}]' % keys[0].encode()
    running.server.faults = [Fault(r"/items\?format=json", body=short, headers={"Total-Results": "1"})]
    assert running.port.changes(cursor).deleted == frozenset()
    for key in keys:
        running.library.delete(key)
    assert running.port.changes(cursor).deleted == frozenset(), "a Zotero that lists nothing has deleted nothing"


def test_a_zotero_that_fails_while_it_is_asked_for_what_is_missing_fails_the_call(running):
    keys = [running.library.add("book", title=f"Book {number}") for number in range(3)]
    cursor = running.port.changes({}).cursor
    running.library.delete(keys[0])
    running.server.faults = [Fault(rf"/items/{keys[0]}", times=99, status=500)]
    with pytest.raises(UpstreamFailed):
        running.port.changes(cursor)


def test_a_zotero_that_lets_nobody_in_is_a_matter_of_settings(running):
    running.server.faults = [Fault(times=99, status=403, body=b"Local API is not enabled")]
    with pytest.raises(Misconfigured, match="allow other applications"):
        running.port.changes({})


def test_a_file_outside_of_the_storage_or_at_another_host_is_not_read(running, tmp_path):
    paper = running.stored()
    secret = tmp_path / "secret.pdf"
    secret.write_bytes(b"secret")
    running.server.faults = [Fault("/file", times=99, headers={"Location": secret.as_uri()})]
    with pytest.raises(NotFound, match="outside") as refused:
        running.port.content(paper)
    assert str(tmp_path) not in str(refused.value)
    running.server.faults = [Fault("/file", times=99, headers={"Location": "http://127.0.0.1:1/paper.pdf"})]
    with pytest.raises(NotFound):
        running.port.content(paper)


def test_a_group_is_read_by_its_number(zotero_10, tmp_path):
    zotero_10.library.name = "groups/2"
    key = zotero_10.library.add("book", title="Of the group")
    assert zotero_10.reading(tmp_path).changes({}).changed == {key}


def test_a_linked_file_is_read_below_the_folder_that_is_named(running, tmp_path):
    linked = tmp_path / "papers" / "linked.pdf"
    linked.parent.mkdir()
    linked.write_bytes(b"linked")
    key = running.library.attach(None, "paper.pdf", b"%PDF", linkMode="linked_file", path="attachments:linked.pdf")
    [item] = running.port.items([key])
    running.server.faults = [Fault("/file", times=99, headers={"Location": linked.as_uri()})]
    with pytest.raises(NotFound, match="ZOTERO_LINKED_DIR"):
        running.port.content(item.attachments[0])
    named = running.reading(linked.parent)
    running.server.faults = [Fault("/file", times=99, headers={"Location": linked.as_uri()})]
    assert named.content(item.attachments[0]) == b"linked"


def test_no_link_leads_out_of_the_storage(running, tmp_path):
    paper = running.stored()
    (tmp_path / "secret.pdf").write_bytes(b"secret")
    stored = running.folder / "storage" / paper.key / "paper.pdf"
    stored.unlink()
    stored.symlink_to(tmp_path / "secret.pdf")
    with pytest.raises(NotFound):
        running.port.content(paper)

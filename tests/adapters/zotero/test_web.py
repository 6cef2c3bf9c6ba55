"""The web API: versions, pages, limits, errors, and where the key goes."""

import logging

import pytest

from bio_mcp.adapters.zotero import Transport, WebLibrary
from bio_mcp.deadline import Deadline
from bio_mcp.errors import Conflict, Misconfigured, NotFound, UpstreamFailed
from bio_mcp.scope import bounded_by
from tests.adapters.clocks import Clock
from tests.support.zotero_server.server import KEY, Fault


def add(library, count):
    return [library.add("book", title=f"Book {number}") for number in range(count)]


def test_an_unchanged_library_costs_one_request(web):
    add(web.library, 3)
    cursor = web.port.changes({}).cursor
    web.server.requests.clear()
    assert web.port.changes(cursor).cursor == cursor
    assert len(web.server.requests) == 1


def test_one_edited_item_of_many_costs_five_requests(web):
    keys = add(web.library, 130)
    cursor = web.port.changes({}).cursor
    web.library.edit(keys[7], title="Edited")
    web.server.requests.clear()
    changes = web.port.changes(cursor)
    [item] = web.port.items(sorted(changes.changed))
    assert item.title == "Edited"
    assert len(web.server.requests) == 5  # versions, collections, deleted, what has changed, the item itself


def test_a_large_library_is_read_by_pages_of_a_hundred(web):
    keys = add(web.library, 230)
    assert [each.key for each in web.port.items(keys)] == sorted(keys)
    assert [path for path in web.server.paths if "limit=100" in path] == [
        f"/items?format=json&includeTrashed=1&start={start}&limit=100" for start in (0, 100, 200)
    ]


def test_a_library_that_changes_between_two_pages_is_read_again(web):
    keys = add(web.library, 130)
    change = lambda: web.library.edit(keys[0], title="Edited meanwhile")  # noqa: E731
    web.server.faults = [Fault("start=0&limit=100", then=change)]
    found = {each.key: each.title for each in web.port.items(keys)}
    assert (len(found), found[keys[0]]) == (130, "Edited meanwhile")


def test_a_library_that_never_rests_is_a_conflict_and_no_mixture(web):
    keys = add(web.library, 130)
    change = lambda: web.library.edit(keys[0], title="Again")  # noqa: E731
    web.server.faults = [Fault("start=0&limit=100", times=99, then=change)]
    with pytest.raises(Conflict, match="changes while it is read"):
        web.port.items(keys)


def test_a_change_between_the_versions_and_the_deletions_is_read_again(web):
    key, gone = add(web.library, 2)
    cursor = web.port.changes({}).cursor
    web.library.edit(key, title="Edited")
    web.server.faults = [Fault("format=versions", then=lambda: web.library.delete(gone))]
    changes = web.port.changes(cursor)
    assert (changes.changed, changes.deleted, changes.cursor["version"]) == ({key}, {gone}, web.library.version)


def test_a_pause_that_the_server_asks_for_is_held(web):
    add(web.library, 1)
    web.server.faults = [Fault("items", status=429, headers={"Retry-After": "17"})]
    web.port.changes({})
    assert web.clock.pauses == [17.0]


def test_a_backoff_beside_a_good_answer_is_held_before_the_next_request_unless_the_clock_was_set_back(web):
    add(web.library, 1)
    web.server.faults = [Fault("items", headers={"Backoff": "10"})]
    web.port.changes({})
    assert web.clock.pauses == []
    web.port.collections()
    assert web.clock.pauses == [10.0]
    web.server.faults = [Fault("items", headers={"Backoff": "10"})]
    web.port.changes({})
    web.clock.now -= 3_600
    web.port.collections()
    assert web.clock.pauses == [10.0]


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=503), Fault(truncated=True)], ids=repr)
def test_a_failure_that_passes_is_tried_again(web, fault):
    [key] = add(web.library, 1)
    web.server.faults = [Fault(status=fault.status, truncated=fault.truncated, times=2)]
    assert web.port.changes({}).changed == {key}
    assert len(web.clock.pauses) == 2


@pytest.mark.parametrize(
    "fault",
    [
        Fault(times=99, status=500),
        Fault(times=99, truncated=True),
        Fault(times=99, status=429),
        Fault(times=99, body=b"<html>maintenance</html>"),
        Fault(times=99, headers={"Last-Modified-Version": "soon"}),
    ],
    ids=repr,
)
def test_an_outage_is_a_failure_and_never_an_empty_library(web, fault):
    keys = add(web.library, 2)
    cursor = web.port.changes({}).cursor
    web.library.delete(keys[0])
    web.server.faults = [fault]
    with pytest.raises(UpstreamFailed):
        web.port.changes(cursor)
    with pytest.raises(UpstreamFailed):
        web.port.items(keys)


def test_what_is_no_list_of_objects_is_not_zotero_and_one_that_ends_too_soon_a_failure(web):
    [key] = add(web.library, 1)
    web.server.faults = [Fault(times=99, body=b'{"items": []}', headers={"Total-Results": "0"})]
    with pytest.raises(UpstreamFailed, match="not Zotero"):
        web.port.items([key])
    keys = add(web.library, 130)
    web.server.faults = [Fault("start=100", times=99, body=b"[]")]
    with pytest.raises(UpstreamFailed, match="ended before"):
        web.port.items(keys)


def test_an_empty_answer_after_an_outage_deletes_nothing(web):
    keys = add(web.library, 4)
    cursor = web.port.changes({}).cursor
    web.library.items.clear()  # the server has lost them, and its list of deletions knows nothing of that
    web.library.version += 1
    assert web.port.changes(cursor).deleted == frozenset()
    assert web.port.items(keys) == []


def test_a_library_that_was_set_back_is_read_as_new(web):
    add(web.library, 3)
    cursor = web.port.changes({}).cursor
    web.library.delete(next(iter(web.library.items)))
    web.library.version = 2
    changes = web.port.changes(cursor)
    assert (changes.changed, changes.deleted) == (set(web.library.items), frozenset())


def test_a_key_that_was_deleted_and_stands_there_again_is_changed(web):
    key, _ = add(web.library, 2)
    cursor = web.port.changes({}).cursor
    kept = web.library.items[key]
    web.library.delete(key)
    web.library.items[key] = kept
    web.library.edit(key, title="Back")
    assert (web.port.changes(cursor).changed, web.port.changes(cursor).deleted) == ({key}, frozenset())


def test_more_changes_than_one_request_names_are_all_found(web):
    keys = add(web.library, 120)
    cursor = web.port.changes({}).cursor
    for key in keys:
        web.library.tag(key, "renamed")
    assert web.port.changes(cursor).changed == frozenset(keys)


def test_an_item_or_a_collection_that_vanishes_while_it_is_read_is_a_conflict(web):
    key = web.library.add("book", title="Vanishes")
    web.library.attach(key, "paper.pdf", b"%PDF")
    web.server.faults = [Fault("itemKey=", then=lambda: web.library.delete(key))]
    with pytest.raises(Conflict, match="vanished"):
        web.port.items([key])
    with pytest.raises(Conflict):
        web.port.members(["ABCD2345"])


# The key


def test_the_key_goes_to_zotero_and_not_to_where_files_are_stored(web):
    paper = web.stored()
    assert web.port.content(paper) == b"%PDF"
    stored = [each for each in web.server.requests if each.path.startswith("/stored/")]
    assert [(each.host.partition(":")[0], each.key) for each in stored] == [("localhost", None)]
    assert {each.key for each in web.server.requests if each not in stored} == {KEY}


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", ""])
def test_redirects_to_other_kinds_of_addresses_are_not_followed(web, target):
    paper = web.stored()
    web.server.faults = [Fault("/file", headers={"Location": target})]
    with pytest.raises(UpstreamFailed, match="followed"):
        web.port.content(paper)


def test_a_store_of_files_that_refuses_one_says_nothing_of_the_key_and_redirects_end(web):
    paper = web.stored()
    web.server.faults = [Fault("/stored", times=99, status=403)]
    with pytest.raises(UpstreamFailed, match="status 403"):
        web.port.content(paper)
    round_and_round = {"Location": f"http://127.0.0.1:{web.server.server_port}/stored/{paper.key}"}
    web.server.faults = [Fault("/stored|/file", times=99, status=302, headers=round_and_round)]
    with pytest.raises(UpstreamFailed, match="redirects"):
        web.port.content(paper)


def test_a_refused_key_is_a_matter_of_settings_and_tried_once(web, caplog):
    caplog.set_level(logging.DEBUG)
    web.server.faults = [Fault(times=99, status=403)]
    with pytest.raises(Misconfigured, match="ZOTERO_API_KEY") as refused:
        web.port.changes({})
    assert len(web.server.requests) == 1
    assert KEY not in f"{refused.value}{refused.value.details}{caplog.text}"


@pytest.mark.parametrize("fault", [Fault(times=99, status=500), Fault(times=99, truncated=True)], ids=repr)
def test_no_failure_holds_the_key_or_an_address(web, fault, caplog):
    caplog.set_level(logging.DEBUG, "bio_mcp")
    web.server.faults = [fault]
    with pytest.raises(UpstreamFailed) as failed:
        web.port.changes({})
    told = f"{failed.value!r}{failed.value.details}{failed.value.__context__}{caplog.text}"
    assert KEY not in told
    assert "127.0.0.1" not in told


def test_an_address_that_is_none_is_a_matter_of_settings():
    transport = Transport("gopher://zotero", clock=Clock())
    with pytest.raises(Misconfigured, match="ZOTERO_API_URL"):
        WebLibrary(transport, "users/1").collections()


def test_linked_files_are_not_at_zotero(web):
    item = web.library.add("book", title="Linked")
    web.library.add("attachment", item, linkMode="linked_file", contentType="application/pdf", path="C:\\papers\\a.pdf")
    [found] = web.port.items([item])
    assert found.attachments[0].name == "a.pdf"
    with pytest.raises(NotFound, match="linked"):
        web.port.content(found.attachments[0])


def test_nothing_is_asked_after_the_time_of_the_call(web):
    web.server.faults = [Fault(times=99, status=500)]
    with bounded_by(Deadline(30.0, web.clock)), pytest.raises(UpstreamFailed):
        web.port.changes({})
    assert sum(web.clock.pauses) < 30

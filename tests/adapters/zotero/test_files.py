"""Files on this machine: those of Zotero, and no others."""

import pytest

from bio_mcp.adapters.zotero.files import Files
from bio_mcp.errors import NotFound
from bio_mcp.ports.zotero import ZoteroAttachment


@pytest.fixture
def data(tmp_path):
    folder = tmp_path / "Zotero"
    (folder / "storage/ABCD2345").mkdir(parents=True)
    (folder / "storage/ABCD2345/paper.pdf").write_bytes(b"stored")
    (folder / "zotero.sqlite").write_bytes(b"the database")
    (tmp_path / "papers/2020").mkdir(parents=True)
    (tmp_path / "papers/2020/linked.pdf").write_bytes(b"linked")
    return folder


def linked(path):
    return ZoteroAttachment("ABCD2345", "linked.pdf", link_mode="linked_file", path=path)


def test_a_stored_file_is_read(data):
    assert Files(data, None).content(ZoteroAttachment("ABCD2345", "paper.pdf")) == b"stored"


@pytest.mark.parametrize("path", ["attachments:2020/linked.pdf", "{papers}/2020/linked.pdf"])
def test_a_linked_file_is_read_below_the_folder_that_is_named(data, path):
    papers = data.parent / "papers"
    assert Files(data, papers).content(linked(path.format(papers=papers))) == b"linked"


def test_a_linked_file_is_not_read_without_such_a_folder(data):
    with pytest.raises(NotFound, match="ZOTERO_LINKED_DIR"):
        Files(data, None).content(linked("attachments:2020/linked.pdf"))


@pytest.mark.parametrize("name", ["../../zotero.sqlite", "../../../papers/2020/linked.pdf", "/etc/hostname", "..", ""])
def test_no_name_leads_out_of_the_storage(data, name):
    with pytest.raises(NotFound) as refused:
        Files(data, None).content(ZoteroAttachment("ABCD2345", name))
    assert str(data.parent) not in str(refused.value)


@pytest.mark.parametrize("key", ["../..", "..", "/etc", "ABCD2345/../../.."])
def test_no_key_leads_out_of_the_storage(data, key):
    with pytest.raises(NotFound):
        Files(data, None).content(ZoteroAttachment(key, "zotero.sqlite"))


@pytest.mark.parametrize("path", ["attachments:../Zotero/zotero.sqlite", "/etc/hostname", "attachments:/etc/hostname"])
def test_no_linked_path_leads_out_of_its_folder(data, path):
    with pytest.raises(NotFound):
        Files(data, data.parent / "papers").content(linked(path))


def test_no_link_leads_out_of_the_storage(data):
    (data / "storage/ABCD2345/link.pdf").symlink_to(data / "zotero.sqlite")
    with pytest.raises(NotFound):
        Files(data, None).content(ZoteroAttachment("ABCD2345", "link.pdf"))


def test_a_link_to_a_page_is_no_file(data):
    with pytest.raises(NotFound, match="link"):
        Files(data, None).content(ZoteroAttachment("ABCD2345", "page", link_mode="linked_url"))

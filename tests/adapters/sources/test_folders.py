"""Files are read below the allowed folders and nowhere else, whatever the path looks like."""

import os
import threading

import pytest

from bio_mcp.adapters.sources import Folders
from bio_mcp.errors import Forbidden, InvalidInput, UnreadableDocument


@pytest.fixture
def tree(tmp_path):
    """An allowed folder, and a secret beside it."""
    (tmp_path / "papers" / "deep").mkdir(parents=True)
    (tmp_path / "papers" / "a.pdf").write_bytes(b"a")
    (tmp_path / "papers" / "deep" / "b.pdf").write_bytes(b"b")
    (tmp_path / "papers-private").mkdir()
    (tmp_path / "papers-private" / "c.pdf").write_bytes(b"c")
    (tmp_path / "secret.txt").write_bytes(b"secret")
    return tmp_path


@pytest.fixture
def folders(tree):
    return Folders([str(tree / "papers")])


def read(folders, source, local=False):
    return [
        folders.read(each.address, local=local)
        for each in folders.files(folders.locate(str(source), local=local), local=local)
    ]


def test_a_client_reads_what_is_below_an_allowed_folder(folders, tree):
    assert read(folders, tree / "papers") == [b"a", b"b"]
    assert read(folders, tree / "papers/deep/b.pdf") == [b"b"]
    assert read(folders, (tree / "papers/a.pdf").as_uri()) == [b"a"]
    assert read(folders, "deep/b.pdf") == [b"b"]
    assert read(folders, ".") == [b"a", b"b"]


def test_names_are_without_the_folders_of_the_machine(folders, tree):
    files = folders.files(folders.locate(str(tree / "papers"), local=False), local=False)
    assert [each.name for each in files] == ["a.pdf", "deep/b.pdf"]


OUTSIDE = """{top}/secret.txt {top}/papers/../secret.txt {top}/papers/deep/../../secret.txt ../secret.txt
deep/../../secret.txt {top}/papers-private/c.pdf {top} / /etc/passwd /proc/self/environ /dev/zero
file://{top}/secret.txt file:///etc/passwd file:/etc/passwd FILE:///etc/passwd file://localhost/etc/passwd
file://{top}/papers/%2e%2e/secret.txt {top}/papers/link-out.txt {top}/papers/folder-out/c.pdf
{top}/does-not-exist.pdf ~root/.bashrc ~""".split()


@pytest.mark.parametrize("source", OUTSIDE)
def test_what_is_outside_is_refused_whether_it_exists_or_not(folders, tree, source):
    (tree / "papers/link-out.txt").symlink_to(tree / "secret.txt")
    (tree / "papers/folder-out").symlink_to(tree / "papers-private")
    with pytest.raises((Forbidden, InvalidInput)) as refused:
        read(folders, source.format(top=tree))
    assert str(tree) not in str(refused.value)
    if not source.startswith("~"):  # which is a name like any other to who has no home here
        assert isinstance(refused.value, Forbidden)
        assert "BIO_MCP_INGEST_ROOTS" in str(refused.value)


@pytest.mark.parametrize(
    "source",
    ["", " ", "a\0b", "file://evil.example/etc/passwd", "file:a.pdf", "file:///a%00b", "\ud800", "file://[::1"],
)
def test_what_is_no_path_is_refused(folders, source):
    with pytest.raises(InvalidInput):
        read(folders, source)


def test_without_allowed_folders_a_client_reads_nothing(tree):
    with pytest.raises(Forbidden):
        read(Folders([]), tree / "papers/a.pdf")


def test_links_out_of_an_allowed_folder_are_left_out_of_it(folders, tree):
    (tree / "papers/link.txt").symlink_to(tree / "secret.txt")
    (tree / "papers/inside.txt").symlink_to(tree / "papers/a.pdf")
    (tree / "papers/folder-out").symlink_to(tree / "papers-private")
    assert read(folders, tree / "papers") == [b"a", b"b"]


def test_a_link_that_is_made_after_the_path_was_checked_is_not_followed(folders, tree):
    address = folders.locate(str(tree / "papers/deep/b.pdf"), local=False)
    (tree / "papers/deep/b.pdf").unlink()
    (tree / "papers/deep/b.pdf").symlink_to(tree / "secret.txt")
    with pytest.raises(InvalidInput, match="it cannot be read"):
        folders.read(address, local=False)
    (tree / "papers/deep/b.pdf").unlink()
    (tree / "papers/deep").rmdir()
    (tree / "papers/deep").symlink_to(tree / "papers-private")
    (tree / "papers-private/b.pdf").write_bytes(b"private")
    with pytest.raises(InvalidInput, match="it cannot be read"):
        folders.read(address, local=False)


def test_the_user_of_the_machine_reads_any_file_but_devices_and_the_kernels(folders, tree):
    assert read(folders, tree / "secret.txt", local=True) == [b"secret"]
    for path in ("/dev/zero", "/proc/self/environ", "/proc/self/fd/0", "/sys/kernel/notes"):
        with pytest.raises(InvalidInput):
            read(folders, path, local=True)


def test_a_pipe_is_refused_and_keeps_nobody_waiting(folders, tree):
    os.mkfifo(tree / "papers/pipe.pdf")
    refused = []

    def attempt():
        with pytest.raises(InvalidInput, match="not a regular file"):
            read(folders, tree / "papers/pipe.pdf")
        refused.append(True)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(10)
    assert refused
    assert read(folders, tree / "papers") == [b"a", b"b"]


def test_a_circle_of_links_is_refused(folders, tree):
    (tree / "papers/one.pdf").symlink_to(tree / "papers/two.pdf")
    (tree / "papers/two.pdf").symlink_to(tree / "papers/one.pdf")
    for local in (True, False):
        with pytest.raises(InvalidInput):
            read(folders, tree / "papers/one.pdf", local=local)
    assert read(folders, tree / "papers") == [b"a", b"b"]


def test_a_file_that_is_too_large_is_refused_however_it_grows(tree):
    folders = Folders([str(tree)], max_bytes=1 << 20)
    (tree / "large.pdf").write_bytes(b"x" * ((1 << 20) + 1))
    with pytest.raises(UnreadableDocument, match="larger than 1 MB"):
        read(folders, tree / "large.pdf")


def test_a_folder_of_too_many_files_is_refused(tree):
    with pytest.raises(InvalidInput, match="more than 1 documents"):
        read(Folders([str(tree)], max_files=1), tree / "papers")


def test_a_name_that_is_not_utf_8_is_read_and_shown(folders, tree):
    name = os.fsdecode(b"caf\xe9.pdf")
    (tree / "papers" / name).write_bytes(b"latin")
    [file] = folders.files(folders.locate(str(tree / "papers" / name), local=False), local=False)
    assert file.name == "caf\N{REPLACEMENT CHARACTER}.pdf"
    assert folders.read(file.address, local=False) == b"latin"


def test_a_root_may_itself_be_a_link(tree):
    (tree / "linked").symlink_to(tree / "papers")
    folders = Folders([str(tree / "linked")])
    assert read(folders, tree / "linked/a.pdf") == [b"a"]
    assert read(folders, "a.pdf") == [b"a"]

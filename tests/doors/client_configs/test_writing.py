"""A client's file is written whole or not at all."""

import json
import os
import threading

import pytest

from bio_mcp.doors import client_configs as writing
from bio_mcp.doors.client_configs import CLIENTS, Command, Refused

CLIENT = CLIENTS["cursor"]
ENTRY = CLIENT.entry(Command("/opt/bio-mcp", ("stdio",)))


def test_a_file_that_is_not_there_is_made_with_its_folders(tmp_path):
    path = tmp_path / "ada/.cursor/mcp.json"
    assert writing.add(CLIENT, path, ENTRY) is None
    assert json.loads(path.read_text()) == {"mcpServers": {"bio-mcp": ENTRY}}
    assert [each.name for each in path.parent.iterdir()] == ["mcp.json"]


def test_a_file_that_says_so_already_is_not_touched(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"bio-mcp": ENTRY}}))  # on one line, as somebody wrote it
    os.utime(path, (1, 1))
    assert writing.add(CLIENT, path, ENTRY) == path
    assert path.stat().st_mtime == 1


def test_every_change_leaves_the_file_before_it(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text("{}")
    for number in range(3):
        entry = CLIENT.entry(Command(f"/opt/{number}", ("stdio",)))
        assert writing.add(CLIENT, path, entry) == tmp_path / f"mcp.json.bak{number or ''}"
    before = [json.loads((tmp_path / name).read_text()) for name in ("mcp.json.bak", "mcp.json.bak1", "mcp.json.bak2")]
    assert before[0] == {}
    assert [each["mcpServers"]["bio-mcp"]["command"] for each in before[1:]] == ["/opt/0", "/opt/1"]


def test_a_reader_never_sees_half_a_file(tmp_path):
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {}, "filling": "x" * 200_000}))
    ended, read = threading.Event(), []

    def watch():
        while not ended.is_set():
            read.append("filling" in json.loads(path.read_text()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for number in range(5):
            writing.add(CLIENT, path, CLIENT.entry(Command(f"/opt/{number}")))
    finally:
        ended.set()
        watcher.join()
    assert all(read)
    assert read


@pytest.mark.parametrize("content", [b"\xff", b"[]", b"{"])
def test_what_is_refused_leaves_no_copy_and_no_new_file(tmp_path, content):
    path = tmp_path / "mcp.json"
    path.write_bytes(content)
    with pytest.raises(Refused):
        writing.add(CLIENT, path, ENTRY)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_larger_than_any_list_of_servers_is_refused(tmp_path):
    path = tmp_path / "mcp.json"
    with path.open("wb") as file:
        file.truncate(writing.LARGEST + 1)  # takes no room on the disk
    with pytest.raises(Refused, match="too large"):
        writing.add(CLIENT, path, ENTRY)


def test_a_folder_in_the_files_place_is_an_error_of_the_system(tmp_path):
    with pytest.raises(OSError):  # noqa: PT011  whichever it is
        writing.add(CLIENT, tmp_path, ENTRY)
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_toml_is_written_as_toml(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text('model = "o5" # mine\n')
    codex = CLIENTS["codex"]
    writing.add(codex, path, codex.entry("https://lab.example/mcp"))
    assert path.read_text().startswith('model = "o5" # mine\n\n[mcp_servers.bio-mcp]\n')
    assert (tmp_path / "config.toml.bak").read_text() == 'model = "o5" # mine\n'

import subprocess
import sys

from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.leases import SqliteLeases
from bio_mcp.adapters.embedded.processes import is_running, this_process

TAKE = """
import sys
from pathlib import Path
from bio_mcp.adapters.embedded.database import Database
from bio_mcp.adapters.embedded.leases import SqliteLeases
assert SqliteLeases(Database(Path(sys.argv[1]))).acquire("sync:k", "child", 3600)
print("taken", flush=True)
sys.stdin.read()
"""


def test_a_running_process_is_known_and_another_one_with_its_id_is_not():
    assert is_running(this_process())
    assert not is_running(this_process() + "1")


def test_the_lease_of_a_killed_process_is_free_at_once(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", TAKE, str(tmp_path)], stdin=-1, stdout=-1, text=True)
    assert child.stdout.readline() == "taken\n"
    database = Database(tmp_path)
    leases = SqliteLeases(database)
    assert not leases.acquire("sync:k", "parent", 60)
    child.kill()
    child.communicate()
    assert leases.acquire("sync:k", "parent", 60)
    database.close()

"""`make demo-ncbi` prints what to set."""

import re
import subprocess
import sys
from contextlib import contextmanager

from bio_mcp.doors.cli.program import run
from bio_mcp.settings import Settings
from scripts.docs import ROOT
from tests.support.corpus import Corpus

COMMAND = [sys.executable, "-m", "tests.support.eutils_server", "--port"]


@contextmanager
def demo():
    """What it prints, while it runs."""
    started = subprocess.Popen([*COMMAND, "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        yield [started.stdout.readline() for _ in range(3)]
    finally:
        started.terminate()
        started.communicate()


def test_it_prints_every_address_to_set():
    with demo() as printed:
        reported = dict(re.findall(r"^export (\w+)=(http://127\.0\.0\.1:\d+/\S+)$", "".join(printed), re.MULTILINE))
    settings = Settings.from_env(reported)
    assert set(reported) == {"NCBI_BASE_URL", "NCBI_ID_CONVERTER_URL"}
    assert Settings(ncbi_base_url=settings.ncbi_base_url).converter_url == settings.converter_url


def test_the_nightly_look_for_retractions_works_beside_it(tmp_path, capsys):
    with demo() as printed:
        base = re.search(r"http://\S+", printed[0])[0]
        settings = Settings(home=tmp_path, ncbi_admin_email="test@example.org")
        assert run(["admin", "retractions"], configure=lambda: settings, wire=lambda _: Corpus(tmp_path, base)) == 0
    assert capsys.readouterr().err == ""

"""The report of an evaluation in a browser, light and dark."""

import struct
import subprocess
import zlib
from itertools import count

import pytest

from bio_mcp.evaluating.figures import METRICS, figures
from bio_mcp.evaluating.page import page
from tests.all import browsing
from tests.evaluating.test_page import ASKED, HOSTILE, OUTCOMES, Page, run

FLAGS = ["--headless=new", *browsing.FLAGS, "--enable-logging=stderr"]
DARK, LIGHT = 0, 1  # as Chromium numbers what its user prefers


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    day = "2026-11-22T10:00:00Z"
    path.write_text(page(ASKED, METRICS, run(day, OUTCOMES), [run("2026-11-20T10:00:00Z", OUTCOMES[:1])], OUTCOMES))
    return path


@pytest.fixture(scope="module")
def browse(report):
    """Opens the report; returns what the browser wrote to stdout, and what it complained of."""
    profiles = count()

    def opened(*flags):
        profile = f"--user-data-dir={report.parent / f'profile-{next(profiles)}'}"
        command = ["chromium", *FLAGS, profile, *flags, report.as_uri()]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        return ran.stdout, [line for line in ran.stderr.splitlines() if "CONSOLE" in line]

    return opened


def picture(path):
    """Width, height and the first pixel of a PNG; that pixel is not filtered, whatever the filter of its line."""
    content, at, data = path.read_bytes(), 8, b""
    size = struct.unpack(">II", content[16:24])
    while at < len(content):
        (length,) = struct.unpack(">I", content[at : at + 4])
        data += content[at + 8 : at + 8 + length] if content[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + length
    return (*size, tuple(zlib.decompress(data)[1:4]))


def test_the_browser_shows_every_plot_and_table_and_complains_of_nothing(browse):
    shown, complaints = browse("--dump-dom")
    seen = Page(shown)
    assert complaints == []
    assert len(seen.all("svg")) == len(figures(METRICS, OUTCOMES))
    assert len(seen.all("table")) == 4
    assert HOSTILE in seen.text
    assert seen.all("script") == seen.all("img") == []


def test_a_script_that_got_in_would_be_refused(report, tmp_path):
    tampered = tmp_path / "tampered.html"
    tampered.write_text(report.read_text().replace("</main>", "<script>document.title = 'bad'</script></main>"))
    command = ["chromium", *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", tampered.as_uri()]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "<title>bad</title>" not in ran.stdout
    assert "Content Security Policy" in ran.stderr


@pytest.mark.parametrize(("prefers", "background"), [(LIGHT, (255, 255, 255)), (DARK, (13, 17, 23))])
def test_it_is_as_bright_as_its_reader_prefers(browse, tmp_path, prefers, background):
    browse(f"--blink-settings=preferredColorScheme={prefers}", f"--screenshot={tmp_path / 'report.png'}")
    assert picture(tmp_path / "report.png")[2] == background

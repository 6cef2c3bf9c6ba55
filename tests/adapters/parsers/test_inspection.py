"""What doctor says of scans: which languages are read, and what to install."""

import pytest

from bio_mcp.adapters.parsers.inspection import text_recognition
from bio_mcp.health import OK


@pytest.fixture
def program(tmp_path):
    """Makes a program that lists these packs as tesseract does."""

    def make(*packs):
        path = tmp_path / "tesseract"
        listed = "".join(f"{each}\\n" for each in ["List of available languages (2):", *packs])
        path.write_text(f"#!/bin/sh\nprintf '{listed}'\n")
        path.chmod(0o700)
        return str(path)

    return make


def test_without_tesseract_it_says_what_to_install():
    found = text_recognition("no-such-program")
    assert (found.state, found.found) == (OK, "scanned pages are refused, all else is read")
    assert "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-deu`" in found.remedy


def test_it_names_the_languages_and_the_pack_that_is_missing(program):
    found = text_recognition(program("eng", "osd", "tha"))
    assert (found.state, found.found) == (OK, "scanned pages are read: eng, tha")
    assert found.remedy.startswith("Text is recognised without deu: ")


def test_it_says_nothing_to_do_where_nothing_is_missing(program):
    assert text_recognition(program("deu", "eng", "fra")).remedy == ""

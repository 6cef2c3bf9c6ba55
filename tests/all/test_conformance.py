"""The official conformance suite against the Lambda handler, in both protocol eras, with exact expected failures."""

import shutil
from pathlib import Path

import pytest

from tests.all.node import run

HERE = Path(__file__).parent
SUITE = "@modelcontextprotocol/conformance/dist/index.js"
VERSIONS = ["2026-07-28", "2025-11-25"]
pytestmark = pytest.mark.parametrize("url", [True], indirect=True, ids=["with-fixtures"])


def judged(url, version, expected, home):
    options = ["--suite", "all", "--spec-version", version, "--timeout", "20000", "--expected-failures", str(expected)]
    return run(SUITE, "server", "--url", url, *options, home=home)


@pytest.mark.parametrize("version", VERSIONS)
def test_the_suite_passes_but_for_what_is_not_offered(url, version, tmp_path):
    done = judged(url, version, HERE / f"expected.{version}.yml", tmp_path)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_failure_that_is_not_expected_fails_the_run(url, version, tmp_path):
    lines = (HERE / f"expected.{version}.yml").read_text().splitlines(keepends=True)
    expected = tmp_path / "one-missing.yml"
    expected.write_text("".join(line for line in lines if line != lines[-1]))
    assert judged(url, version, expected, tmp_path).returncode != 0


@pytest.mark.parametrize("version", VERSIONS)
def test_an_expected_failure_that_passes_fails_the_run(url, version, tmp_path):
    expected = tmp_path / "one-stale.yml"
    shutil.copy(HERE / f"expected.{version}.yml", expected)
    expected.write_text(expected.read_text() + "  - tools-list\n")
    assert judged(url, version, expected, tmp_path).returncode != 0


@pytest.mark.parametrize("scenario", ["enumeration", "manifest"])
def test_the_skills_extension_passes(url, scenario, tmp_path):
    options = ["--scenario", f"sep-2640-skills-{scenario}", "--spec-version", VERSIONS[0], "--force"]
    done = run(SUITE, "server", "--url", url, *options, home=tmp_path)
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]
    assert "0 failed" in done.stdout
    assert "SKIPPED" not in done.stdout

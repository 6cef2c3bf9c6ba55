"""Every block of commands of README.md, docs/laptop.md and docs/projects.md runs, by the programs that it names."""

import pytest

from tests.test_readme import SCRIPTS, home, run_block  # noqa: F401  home is a fixture


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.split("\n")[0])
def test_a_block_of_commands_runs(script, home, ncbi):  # noqa: F811  the fixture
    ran = run_block(script, home, NCBI_BASE_URL=ncbi.base_url, NCBI_REQUEST_DELAY_MS="1")
    assert ran.returncode == 0, ran.stderr
    assert "error" not in ran.stderr

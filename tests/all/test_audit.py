"""The secret scan of `make audit`, by the tool itself: what is planted is found, and what tests made up is known."""

import pytest

from scripts.audit import ROOT, TOOLS, secrets

PLANTED = {
    "AWS Access Key": "aws_key = 'AKIA" + "QYLPMN5HHHFPZAM2'",
    "Private Key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "GitHub Token": "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
    "Slack Token": "xoxb-" + "123456789012-123456789012-abcdefghijklmnopqrstuvwx",
}


@pytest.mark.parametrize("kind", sorted(PLANTED))
def test_a_secret_is_found_by_its_form(tmp_path, kind):
    (tmp_path / "notes.py").write_text(f"# notes\n{PLANTED[kind]}\n")
    assert secrets(TOOLS, ["notes.py"], tmp_path) == [f"notes.py:2: {kind}"]


def test_what_tests_made_up_is_known():
    assert secrets(TOOLS, ["events/mcp_http/initialize.json", "tests/literature/medline/test_hostile.py"], ROOT) == []


def test_a_tool_that_is_missing_is_no_clean_scan(tmp_path):
    with pytest.raises(FileNotFoundError, match="detect-secrets"):
        secrets(tmp_path, ["notes.py"], tmp_path)

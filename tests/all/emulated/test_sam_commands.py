"""What the SAM CLI does with a deployed stack beside deploying it, as docs/deploying.md shows it."""

import json
import os
import shutil
import subprocess

import pytest

from tests.emulated.build import QUIET, ROOT, SAM

pytestmark = pytest.mark.timeout(300)
ASKED = {"tool": "corpus.queries", "arguments": {}}


@pytest.fixture
def sam(up, tmp_path):
    """Runs a command of the SAM CLI about the stack, in a directory that has the template, and gives what it prints."""
    for name in ("template.yaml", "samconfig.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "functions", tmp_path / "functions")
    (tmp_path / "layers").symlink_to(ROOT / "layers")
    known = {"AWS_ENDPOINT_URL": up.stack.endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

    def run(*command, given=""):
        whole = [SAM, *command, "--stack-name", up.stack.name]
        env = {**os.environ, **QUIET, **known}
        done = subprocess.run(whole, cwd=tmp_path, env=env, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_a_function_is_invoked_by_its_logical_id_and_its_log_is_read(sam):
    answer = sam("remote", "invoke", "CheckpointFunction", "--event", json.dumps(ASKED))
    assert "queries" in json.loads(answer)
    assert "corpus.queries" in sam("logs", "--name", "CheckpointFunction")


def test_the_code_of_a_function_is_replaced_without_a_deployment(sam, up, tmp_path):
    functions, name = up.stack.client("lambda"), f"{up.stack.name}-checkpoint"
    before = functions.get_function_configuration(FunctionName=name)["CodeSha256"]
    with (tmp_path / "functions/checkpoint/app.py").open("a") as source:
        source.write("\n# changed\n")
    sam("sync", "--code", "--resource-id", "CheckpointFunction", given="Y\n")
    assert functions.get_function_configuration(FunctionName=name)["CodeSha256"] != before
    assert "queries" in up.stack.invoke("checkpoint", ASKED)

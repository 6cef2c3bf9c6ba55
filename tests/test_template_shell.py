"""The output Environment, read by a shell, is what the functions of the same stack have."""

import subprocess
from dataclasses import fields

import pytest

from bio_mcp.settings import Settings
from tests.support.aws_template import FUNCTIONS, RESOURCES, TEMPLATE, rendered, variables

OF_A_FUNCTION = {"models", "threads", "functions", "metrics"}  # its layers, its processor, whom it calls, its figures
QUEUES = {"WorkQueue", "IngestQueue", "EvaluateQueue", "ExportQueue"}
NAMES = {name: name for name in [*RESOURCES, "AWS::Region", "AWS::URLSuffix", "AWS::StackName"]}


def value(name, parameter):
    """One that is not the default."""
    if "AllowedValues" in parameter:
        return str(parameter["AllowedValues"][-1])
    if parameter["Type"] == "Number":
        return "7"
    return "o'brien@example.org" if name.endswith("Email") else f"{name}-of-ours"


GIVEN = NAMES | {name: value(name, each) for name, each in TEMPLATE["Parameters"].items()}
DEFAULTS = NAMES | {name: str(each.get("Default", "")) for name, each in TEMPLATE["Parameters"].items()}


def shell_of(given):
    said = rendered(TEMPLATE["Outputs"]["Environment"]["Value"], given)
    done = subprocess.run(["bash", "-c", f"{said}\nenv -0"], env={}, capture_output=True, text=True, check=True)
    return dict(each.split("=", 1) for each in done.stdout.split("\0") if each)


@pytest.mark.parametrize("given", [GIVEN, DEFAULTS, GIVEN | {"OpenSearchUrl": ""}], ids=["all", "defaults", "own"])
def test_a_shell_of_the_stack_has_every_setting_as_each_function_has_it(given):
    shell = Settings.from_env(shell_of(given))
    assert shell.mode == "aws"
    for name in FUNCTIONS:
        function = Settings.from_env({key: str(each) for key, each in rendered(variables(name), given).items()})
        assert function.queue_url in ("", *QUEUES)
        for each in fields(Settings):
            if each.name not in {*OF_A_FUNCTION, "queue_url"} and getattr(function, each.name) != each.default:
                assert getattr(shell, each.name) == getattr(function, each.name), (name, each.name)


def test_a_shell_that_has_a_laptops_settings_makes_the_vectors_of_the_stack():
    laptops = {"BIO_MCP_EMBEDDINGS": "openai", "BIO_MCP_EMBEDDING_MODEL": "text-embedding-3-small"}
    shell = Settings.from_env(laptops | shell_of(DEFAULTS))
    assert (shell.embeddings, shell.embedding_model) == ("onnx", TEMPLATE["Parameters"]["EmbeddingModel"]["Default"])


def test_a_shell_has_the_contact_and_the_name_of_the_secret_of_the_key():
    shell = Settings.from_env(shell_of(GIVEN))
    assert shell.ncbi_admin_email == "o'brien@example.org"
    assert shell.ncbi_api_key == f"{GIVEN['SecretStore']}:NcbiApiKeyName-of-ours"
